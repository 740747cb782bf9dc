curl -si $url/v1/orders -H "$alice" -H "$json" \
  -H "Idempotency-Key: lunch-1" -d "$lunch"   # 200 OK

other='{"establishment_id": "'$canteen'",
  "lines": [{"dish_id": "'$borscht'", "quantity": 3}]}'
curl -s $url/v1/orders -H "$alice" -H "$json" \
  -H "Idempotency-Key: lunch-1" -d "$other"   # 422 idempotency_key_reused
