feast='{"establishment_id": "'$canteen'",
  "lines": [{"dish_id": "'$borscht'", "quantity": 99}]}'
curl -s $url/v1/orders -H "$alice" -H "$json" \
  -H "Idempotency-Key: feast-1" -d "$feast"   # 409 out_of_stock

feast='{"establishment_id": "'$canteen'",
  "lines": [{"dish_id": "'$borscht'", "quantity": 9}]}'
curl -s $url/v1/orders -H "$alice" -H "$json" \
  -H "Idempotency-Key: feast-1" -d "$feast"   # 201 Created
