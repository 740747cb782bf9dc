curl -s $url/v1/orders -H "$alice" -H "$json" \
  -H "Idempotency-Key: dinner-1" -d "$lunch" \
  --max-time 15 --retry 8 --retry-connrefused   # 201 Created
