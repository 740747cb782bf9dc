curl -s $url/v1/orders -H "$alice" -H "$json" \
  -d '{"establishment_id": "'$canteen'",
    "lines": [{"dish_id": "'$borscht'", "quantity": 0}]}'   # 400 invalid_request
