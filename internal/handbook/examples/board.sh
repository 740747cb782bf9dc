curl -s $url/v1/tickets/$order -H "$marta"   # 200 OK

for try in 1 2; do
  curl -s $url/v1/tickets/$order/advance -H "$marta" -H "$json" \
    -d '{"action": "start"}'   # 200 200
done
