till="Authorization: Bearer $(./kuhnya token --role service --subject till-7)"

for try in 1 2; do
  curl -si $url/v1/orders/$order/status -H "$till" -H "$json" \
    -H "Idempotency-Key: $order:accepted" -d '{"status": "accepted"}'   # 200 200
done

curl -s $url/v1/orders/$order/events -H "$alice"   # 200 OK
