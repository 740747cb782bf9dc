order=$(curl -s "$url/v1/orders?idempotency_key=lunch-1" -H "$alice" |   # 200 OK
  sed 's/.*"items":\[{"id":"\([^"]*\)".*/\1/')
echo $order
