lunch='{"establishment_id": "'$canteen'",
  "lines": [{"dish_id": "'$borscht'", "quantity": 2}]}'

curl -si $url/v1/orders -H "$alice" -H "$json" \
  -H "Idempotency-Key: lunch-1" -d "$lunch"   # 201 Created
