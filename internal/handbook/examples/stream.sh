curl -sN $url/v1/orders/$order/stream -H "$alice" > seen.txt &   # 200 OK

for action in ready complete; do
  curl -s $url/v1/tickets/$order/advance -H "$marta" -H "$json" \
    -d '{"action": "'$action'"}'   # 200 200
done

wait   # the stream ends by itself, as the order is over
cat seen.txt

curl -si $url/v1/orders/$order/stream -H "$alice" \
  -H "Last-Event-ID: 5"   # 204 No Content
