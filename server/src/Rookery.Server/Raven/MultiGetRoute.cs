using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Queries;
using Rookery.Server.Raven.Revisions;

namespace Rookery.Server.Raven;

/// <summary>
/// POST multi_get: several reads of one database in one request, as lazy sessions send them. Each inner request runs
/// through the same handler as a request of its own.
/// </summary>
internal sealed class MultiGetRoute(
    ServerContext context,
    GetDocuments documents,
    GetCompareExchange values,
    GetRevisions revisions,
    RunQuery queries
)
{
    // RavenDB's sessions make at most 30 requests by default.
    private const int MaxParts = 1024;

    // Headers of an inner request that change the answer of a read, or that its handler refuses.
    private static readonly string[] ReadHeaderNames = ["If-None-Match", "If-Match", "Content-Encoding"];

    public async Task HandleAsync(HttpContext http, Database database)
    {
        List<Part> parts;
        LargeRequests.Lease? bodyLease;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.QueryBytesLimit,
                context.LargeRequests,
                BodyUse.Objects
            )
        )
        {
            parts = ReadParts(body);
            bodyLease = body.Lease;
        }

        using var lease = bodyLease ?? context.LargeRequests.Begin(http);
        lease.OuterBytes = lease.Bytes;
        try
        {
            await AnswerAsync(http, database, parts, lease);
        }
        finally
        {
            lease.OuterBytes = 0;
        }
    }

    private async Task AnswerAsync(HttpContext http, Database database, List<Part> parts, LargeRequests.Lease lease)
    {
        // All inner requests share the time slices: each may be shorter than a slice, but together they can be long.
        var slices = new RequestTimeSlices(context, http);
        using var answer = ResponseBuffer.Rent();
        answer.Write("{\"Results\":["u8);
        for (int i = 0; i < parts.Count; i++)
        {
            await slices.YieldWhenDueAsync();
            answer.Write(i == 0 ? ""u8 : ","u8);
            answer.Write("{\"Result\":"u8);
            await using var body = new MultiGetPart(http, answer, lease);
            var part = ContextOf(http, parts[i], body);
            await RavenRoute.OnServer(inner => RunAsync(inner, parts[i], database, body))(part);

            answer.Write(body.IsIndexMissing ? "null"u8 : default);
            WriteEnd(answer, part.Response, isWritten: body.IsIndexMissing || body.WrittenBytes > 0);
            if (answer.IsPartDue)
            {
                await answer.SendPartAsync(http, pause: null);
            }

            // An inner request that was refused for lack of memory has released the memory of the parsed requests too.
            await lease.GrowAsync(lease.OuterBytes, waitsLong: true, http.RequestAborted);
            lease.Renew(); // each inner request has a deadline of its own
        }

        answer.Write("]}"u8);
        lease.ReleaseAll(); // the rest of the answer needs none
        await answer.SendAsync(http);
    }

    private async Task RunAsync(HttpContext part, Part requested, Database database, MultiGetPart body)
    {
        try
        {
            await RunAsync(part, requested, database);
        }
        catch (Exception failure) when (RavenErrors.AsRefusal(failure) is { } refused)
        {
            if (!body.TryDiscard())
            {
                // An answer that is partly sent cannot become an error; closing the connection is the only signal left.
                throw new OperationCanceledException("An answer broke off.", failure, part.RequestAborted);
            }

            if (refused.Type is not RavenType.IndexMissing)
            {
                throw;
            }

            // RavenDB answers a query of a missing index without a result. Its clients then throw their exception for a
            // missing index.
            part.Response.StatusCode = refused.Status;
            body.IsIndexMissing = true;
        }
    }

    private Task RunAsync(HttpContext part, Part requested, Database database)
    {
        string prefix = "/databases/" + database.Name;
        string path = requested.Url.StartsWith(prefix, StringComparison.OrdinalIgnoreCase)
            ? requested.Url[prefix.Length..]
            : requested.Url;
        (RouteParameters Parameters, DatabaseHandler Handle) route = (
            requested.Method.ToUpperInvariant(),
            path.ToLowerInvariant()
        ) switch
        {
            ("GET", "/docs") => (RavenParameters.Documents, documents.GetAsync),
            ("POST", "/docs") => (RavenParameters.DocumentsOfBody, documents.PostAsync),
            ("GET", "/revisions") => (RavenParameters.Revisions, revisions.HandleAsync),
            ("GET", "/cmpxchg") => (RavenParameters.CompareExchangeValues, values.HandleAsync),
            ("POST", "/queries") => (RavenParameters.Query, queries.HandleAsync),
            _ => throw RefusedException.NotSupported(
                $"{requested.Method} {requested.Url} inside multi_get of database '{database.Name}' is not supported "
                    + "by this version: it takes GET and POST of docs, GET of cmpxchg and revisions, and POST of its "
                    + "queries."
            ),
        };
        route.Parameters.Check(part, isWrite: false);
        return !new QueryParameters(part).TryGetEscaped("consistency", out _)
            ? route.Handle(part, database)
            : throw RefusedException.BadRequest(
                "The parameter 'consistency' belongs to multi_get itself: it holds for all of its requests."
            );
    }

    private static DefaultHttpContext ContextOf(HttpContext http, Part requested, MultiGetPart answer)
    {
        var part = new DefaultHttpContext();
        part.Request.Method = requested.Method;
        part.Request.Scheme = http.Request.Scheme;
        part.Request.Host = http.Request.Host;
        // The constructor keeps escapes. The conversion from a string resolves them, and throws at %00.
        part.Request.Path = new PathString(requested.Url.StartsWith('/') ? requested.Url : "/" + requested.Url);
        part.Request.QueryString = new QueryString(
            requested.Query.Length == 0 || requested.Query[0] == '?' ? requested.Query : "?" + requested.Query
        );
        part.Request.Body = new MemoryStream(requested.Content);
        part.Response.Body = answer;
        part.Features.Set(answer);
        part.Features.Set(Principal.Of(http));
        part.RequestAborted = http.RequestAborted;
        foreach (var (name, value) in requested.Headers)
        {
            part.Request.Headers[name] = value;
        }

        return part;
    }

    private static void WriteEnd(ResponseBuffer answer, HttpResponse response, bool isWritten)
    {
        answer.Write(isWritten ? default : EmptyBodyOf(response.StatusCode));
        answer.Write(Encoding.ASCII.GetBytes($",\"StatusCode\":{response.StatusCode},\"Headers\":{{"));
        if (response.Headers.ETag.ToString() is { Length: > 0 } tag)
        {
            answer.Write("\"ETag\":\""u8);
            answer.Write(JsonEncodedText.Encode(tag).EncodedUtf8Bytes);
            answer.Write("\""u8);
        }

        answer.Write("}}"u8);
    }

    // Returns the body of an inner answer that has none, for example of a missing id. The client parses it whatever the
    // status is, and fails on null.
    private static ReadOnlySpan<byte> EmptyBodyOf(int status) =>
        status == StatusCodes.Status404NotFound ? "{\"Results\":[null],\"Includes\":{}}"u8 : "null"u8;

    private static List<Part> ReadParts(RequestBody body) =>
        JsonBody.Read(
            body.Span,
            (ref Utf8JsonReader json) =>
            {
                var parts = new List<Part>();
                JsonBody.ForEachMember(
                    ref json,
                    (string name, ref Utf8JsonReader value) =>
                    {
                        if (name is not "Requests")
                        {
                            JsonBody.RequireNull(ref value, name, "the body of multi_get");
                            return;
                        }

                        if (value.TokenType != JsonTokenType.StartArray)
                        {
                            throw RefusedException.BadRequest("'Requests' must be a list of requests.");
                        }

                        while (value.Read() && value.TokenType != JsonTokenType.EndArray)
                        {
                            parts.Add(
                                parts.Count < MaxParts
                                    ? ReadPart(ref value, body)
                                    : throw RefusedException.BadRequest(
                                        $"multi_get takes at most {MaxParts} requests; send several."
                                    )
                            );
                        }
                    }
                );
                return parts;
            }
        );

    private static Part ReadPart(ref Utf8JsonReader json, RequestBody body)
    {
        var part = new Part();
        JsonBody.ForEachMember(
            ref json,
            (string name, ref Utf8JsonReader value) =>
            {
                switch (name)
                {
                    case "Url":
                        part.Url = JsonBody.ReadText(ref value, name) ?? "";
                        break;
                    case "Query":
                        part.Query = JsonBody.ReadText(ref value, name) ?? "";
                        break;
                    case "Method":
                        part.Method = JsonBody.ReadText(ref value, name) is { Length: > 0 } method ? method : "GET";
                        break;
                    case "Content" when value.TokenType == JsonTokenType.String:
                        part.Content = Encoding.UTF8.GetBytes(value.GetString()!);
                        break;
                    // The Node client sends JSON as a string; the clients for .NET and Python send an object.
                    case "Content" when value.TokenType == JsonTokenType.StartObject:
                        part.Content = JsonBody.ReadRaw(ref value, body.Span).ToArray();
                        break;
                    case "Content" when value.TokenType != JsonTokenType.Null:
                        throw RefusedException.BadRequest(
                            "'Content' must be a JSON object, or a string that holds one."
                        );
                    case "Content":
                        break;
                    case "Headers" when value.TokenType == JsonTokenType.StartObject:
                        ReadHeaders(ref value, part);
                        break;
                    default:
                        JsonBody.RequireNull(ref value, name, "a request of multi_get");
                        break;
                }
            },
            subject: "Each of 'Requests'"
        );
        return part;
    }

    private static void ReadHeaders(ref Utf8JsonReader json, Part part) =>
        JsonBody.ForEachMember(
            ref json,
            (string name, ref Utf8JsonReader value) =>
            {
                if (
                    value.TokenType == JsonTokenType.String
                    && ReadHeaderNames.Contains(name, StringComparer.OrdinalIgnoreCase)
                )
                {
                    if (!part.Headers.TryAdd(name, value.GetString()!))
                    {
                        throw RefusedException.BadRequest(
                            $"A request of multi_get has the header '{name}' twice, because the case of names does "
                                + "not count."
                        );
                    }
                }

                value.Skip();
            }
        );

    /// <summary>One inner request.</summary>
    private sealed class Part
    {
        public string Url { get; set; } = "";

        public string Query { get; set; } = "";

        public string Method { get; set; } = "GET";

        public byte[] Content { get; set; } = [];

        public Dictionary<string, string> Headers { get; } = new(StringComparer.OrdinalIgnoreCase);
    }
}
