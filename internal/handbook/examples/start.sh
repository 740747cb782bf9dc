url=http://127.0.0.1:8080
json="Content-Type: application/json"
canteen=01980000-0000-7000-8000-000001000000
borscht=01980000-0000-7000-8000-000001000001

alice="Authorization: Bearer $(./kuhnya token --role customer --subject alice)"
marta="Authorization: Bearer $(./kuhnya token --role staff --subject marta \
  --establishment $canteen)"

curl -s $url/v1/establishments/$canteen/menu   # 200 OK
