root="Authorization: Bearer $(./kuhnya token --role operator --subject root)"
campaign=$(curl -s $url/v1/campaigns -H "$root" |   # 200 OK
  sed 's/.*"items":\[{"id":"\([^"]*\)".*/\1/')

accrual='{"user_id": "alice", "campaign_id": "'$campaign'", "points": 25,
  "order_id": "01980000-0000-7000-8000-0000000c0ffe"}'

for key in visit-1 visit-1 visit-2; do
  curl -si $url/v1/bonuses -H "$root" -H "$json" \
    -H "Idempotency-Key: $key" -d "$accrual"   # 201, 201 replayed, 200
done

curl -s $url/v1/wallet -H "$alice"   # 200 OK
