"""Uses a store behind the gateway as any program would: `s3_client.py ENDPOINT DIRECT`. Prints what went wrong."""

import json
import sys
import urllib.request

import boto3
from botocore.config import Config

endpoint, direct = sys.argv[1:]
region = {"region_name": "us-east-1"}
root = {"aws_access_key_id": "root", "aws_secret_access_key": "root"}

# Until it is told otherwise, the store verifies no signature.
iam = boto3.client("iam", endpoint_url=direct, **region, **root)
iam.create_user(UserName="zoe")
made = iam.create_access_key(UserName="zoe")["AccessKey"]
policy = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}
iam.put_user_policy(UserName="zoe", PolicyName="all", PolicyDocument=json.dumps(policy))


def client(secret):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=made["AccessKeyId"],
        aws_secret_access_key=secret,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        **region,
    )


store = client(made["SecretAccessKey"])
store.create_bucket(Bucket="files")
keys = ["plain.txt", "Zoë #1?.txt", "C# a;b 100%.bin", "50%25.txt", "back\\slash", "a/b/c.txt", "a+b=c&d.txt"]
for key in keys:
    store.put_object(Bucket="files", Key=key, Body=key.encode())
    url = store.generate_presigned_url("get_object", Params={"Bucket": "files", "Key": key})
    with urllib.request.urlopen(url) as response:
        assert response.read().decode() == key, url

text = {"Content-Type": "text/plain"}
urllib.request.urlopen(urllib.request.Request(f"{direct}/moto-api/reset-auth", data=b"0", headers=text))
listed = [item["Key"] for item in store.list_objects_v2(Bucket="files")["Contents"]]
assert sorted(listed) == sorted(keys), listed
for key in keys:
    read = store.get_object(Bucket="files", Key=key)["Body"].read().decode()
    assert read == key, (key, read)
    store.put_object(Bucket="files", Key=f"{key} again", Body=b"")
try:
    store.put_object(Bucket="files", Key="a//b", Body=b"")
except Exception as error:
    assert "400" in str(error), error
else:
    raise AssertionError("an empty segment has come through")
store.upload_file(__file__, "files", "self #2")
try:
    client("guessed").list_buckets()
except Exception as error:
    assert "SignatureDoesNotMatch" in str(error), error
else:
    raise AssertionError("the store verifies no signature")
print("all well")
