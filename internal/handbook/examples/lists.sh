page=$(curl -s "$url/v1/orders?limit=2" -H "$alice")   # 200 OK
cursor=$(echo "$page" | sed -n 's/.*"next_cursor":"\([^"]*\)".*/\1/p')

curl -s "$url/v1/orders?limit=2&cursor=$cursor" -H "$alice"   # 200 OK
