import protobuf from 'protobufjs';

/*
 * The part of Envoy's external authorization, version 3, that is used, with its packages, names and numbers; other fields are
 * skipped when they are received.
 */
const definitions = [
  `syntax = "proto3";
  package google.rpc;
  message Status { int32 code = 1; string message = 2; }`,
  // `code` is an enumeration in Envoy's definition, which is the same on the wire.
  `syntax = "proto3";
  package envoy.type.v3;
  message HttpStatus { int32 code = 1; }`,
  `syntax = "proto3";
  package envoy.config.core.v3;
  message SocketAddress { string address = 2; }
  message Address { oneof address { SocketAddress socket_address = 1; } }
  message HeaderValue { string key = 1; string value = 2; bytes raw_value = 3; }
  message HeaderMap { repeated HeaderValue headers = 1; }
  message HeaderValueOption {
    enum HeaderAppendAction {
      APPEND_IF_EXISTS_OR_ADD = 0;
      ADD_IF_ABSENT = 1;
      OVERWRITE_IF_EXISTS_OR_ADD = 2;
      OVERWRITE_IF_EXISTS = 3;
    }
    HeaderValue header = 1;
    HeaderAppendAction append_action = 3;
    bool keep_empty_value = 4;
  }`,
  `syntax = "proto3";
  package envoy.service.auth.v3;
  message AttributeContext {
    message Peer { envoy.config.core.v3.Address address = 1; }
    message HttpRequest {
      string method = 2;
      map<string, string> headers = 3;
      string path = 4;
      string host = 5;
      envoy.config.core.v3.HeaderMap header_map = 13;
    }
    message Request { HttpRequest http = 2; }
    Peer source = 1;
    Request request = 4;
  }
  message CheckRequest { AttributeContext attributes = 1; }
  message DeniedHttpResponse {
    envoy.type.v3.HttpStatus status = 1;
    repeated envoy.config.core.v3.HeaderValueOption headers = 2;
    string body = 3;
  }
  message OkHttpResponse {
    repeated envoy.config.core.v3.HeaderValueOption headers = 2;
    repeated string headers_to_remove = 5;
  }
  message CheckResponse {
    google.rpc.Status status = 1;
    oneof http_response {
      DeniedHttpResponse denied_response = 2;
      OkHttpResponse ok_response = 3;
    }
  }`,
];

/** A check request of Envoy; any member may be missing. */
export interface CheckRequest {
  readonly attributes?: {
    readonly source?: {
      readonly address?: { readonly socket_address?: { readonly address: string } };
    } | null;
    readonly request?: {
      readonly http?: {
        readonly method: string;
        readonly path: string;
        readonly host: string;
        readonly headers: Readonly<Record<string, string>>;
        /** Headers with `value` or `raw_value`; the other is empty. */
        readonly header_map?: {
          readonly headers: readonly {
            readonly key: string;
            readonly value: string;
            readonly raw_value: Uint8Array;
          }[];
        } | null;
      } | null;
    } | null;
  } | null;
}

/** A header of an answer, which replaces any header of that name. */
export interface SetHeader {
  readonly header: { readonly key: string; readonly value: string };
  readonly append_action: number;
  readonly keep_empty_value: boolean;
}

/** The answer to a check request, with exactly one of the two responses. */
export interface CheckResponse {
  readonly status: { readonly code: number };
  readonly denied_response?: {
    readonly status: { readonly code: number };
    readonly headers: readonly SetHeader[];
    readonly body: string;
  };
  readonly ok_response?: {
    readonly headers: readonly SetHeader[];
    readonly headers_to_remove: readonly string[];
  };
}

/** The `append_action` that replaces a header or adds it: `OVERWRITE_IF_EXISTS_OR_ADD`. */
export const overwrite = 2;

/** Path of the method that Envoy calls. */
export const checkPath = '/envoy.service.auth.v3.Authorization/Check';

/** Creates the codec of check requests and their responses from the definitions. */
export function createCheckCodec() {
  const root = new protobuf.Root();
  for (const text of definitions) protobuf.parse(text, root, { keepCase: true });
  const request = root.lookupType('envoy.service.auth.v3.CheckRequest');
  const response = root.lookupType('envoy.service.auth.v3.CheckResponse');
  return {
    /** Decodes a request; unreadable bytes give an empty request, which is refused, so that the call doesn't fail. */
    decodeRequest(bytes: Uint8Array): CheckRequest {
      try {
        return request.decode(bytes) as unknown as CheckRequest;
      } catch {
        return {};
      }
    },
    encodeResponse: (message: CheckResponse) => response.encode(message).finish(),
    encodeRequest: (message: CheckRequest) => request.encode(message).finish(),
    /** Decodes a response, as Envoy does. Throws if the bytes aren't a response. */
    decodeResponse: (bytes: Uint8Array) => response.decode(bytes) as unknown as CheckResponse,
  };
}
