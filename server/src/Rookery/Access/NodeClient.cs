using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Rookery.Hosting;
using Rookery.Json;

namespace Rookery.Access;

/// <summary>
/// Asks a node for documents and what belongs to them. An answer may take as long as it takes, and need not fit into
/// memory.
/// </summary>
/// <param name="node">The node.</param>
/// <param name="named">All nodes that were named, that one among them: whoever works for long may go on with
/// another.</param>
internal sealed class NodeClient(NodeConnection node, IReadOnlyList<NodeConnection>? named = null) : IDisposable
{
    private const long AskFromBytes = 1 << 20;

    private const string OtherName = "Name its address with --url.";

    private NodeConnection _node = node;
    private HttpClient _client = node.NewClient(Timeout.InfiniteTimeSpan);

    /// <summary>How an answer is read that may carry documents.</summary>
    public static JsonDocumentOptions Parsing => new() { MaxDepth = JsonLimits.MaxEnvelopeDepth };

    /// <summary>Where it answers.</summary>
    public Uri Address => _node.Address;

    /// <summary>Whether more nodes than one were named.</summary>
    public bool HasOthers => named is { Count: > 1 };

    /// <summary>The path of a database.</summary>
    public static string PathOf(string database) => $"/databases/{Uri.EscapeDataString(database)}";

    /// <summary>A body of one JSON object.</summary>
    public static ByteArrayContent BodyOf(Action<Utf8JsonWriter> members)
    {
        var body = new MemoryStream();
        using (var json = new Utf8JsonWriter(body))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        var content = new ByteArrayContent(body.ToArray());
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        return content;
    }

    /// <summary>Sends a request; the answer, whatever its status is, of which the caller reads the body.</summary>
    /// <exception cref="AdminException">The node does not answer.</exception>
    public async Task<HttpResponseMessage> AskAsync(
        HttpRequestMessage request,
        CancellationToken cancellation = default
    )
    {
        try
        {
            return await _client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancellation);
        }
        catch (HttpRequestException failure)
        {
            throw new AdminException(_node.Describe(failure, OtherName), ExitCode.Failure);
        }
    }

    /// <summary>Sends a request that must succeed.</summary>
    /// <exception cref="AdminException">The node does not answer, or refused.</exception>
    public async Task<HttpResponseMessage> SendAsync(
        HttpMethod method,
        string path,
        HttpContent? content = null,
        (string Name, string Value)? header = null,
        CancellationToken cancellation = default
    )
    {
        using var request = NewRequest(method, path, content, header);
        var answer = await AskAsync(request, cancellation);
        if (answer.IsSuccessStatusCode)
        {
            return answer;
        }

        using (answer)
        {
            throw await RefusalOfAsync(answer, cancellation);
        }
    }

    /// <summary>The JSON of an answer; an undefined element when it has no body.</summary>
    /// <param name="method">The HTTP method.</param>
    /// <param name="path">The path, with its query.</param>
    /// <param name="content">The body, if there is one.</param>
    /// <param name="missing">What is told of a 404 without a sentence.</param>
    /// <param name="cancellation">Ends it.</param>
    /// <exception cref="AdminException">The node does not answer, or refused.</exception>
    public async Task<JsonElement> GetJsonAsync(
        HttpMethod method,
        string path,
        HttpContent? content = null,
        string? missing = null,
        CancellationToken cancellation = default
    )
    {
        using var request = NewRequest(method, path, content);
        using var answer = await AskAsync(request, cancellation);
        return answer.IsSuccessStatusCode ? await ReadJsonAsync(answer, cancellation)
            : answer.StatusCode == HttpStatusCode.NotFound
            && missing is not null
            && answer.Content.Headers.ContentType is null
                ? throw new AdminException(missing, ExitCode.NotFound)
            : throw await RefusalOfAsync(answer, cancellation);
    }

    /// <summary>
    /// Goes over to the next of the nodes that were named which answers: whoever refuses or is silent now may be cut
    /// off from the others. It stays where it is when nobody else answers. No request may be under way.
    /// </summary>
    public async Task LookElsewhereAsync()
    {
        if (named is not { Count: > 1 })
        {
            return;
        }

        try
        {
            int at = named.TakeWhile(other => other != _node).Count();
            var answering = await NodeChoice.FirstThatAnswersAsync([.. named.Skip(at + 1), .. named.Take(at + 1)]);
            if (answering != _node)
            {
                _client.Dispose();
                (_node, _client) = (answering, answering.NewClient(Timeout.InfiniteTimeSpan));
            }
        }
        catch (AdminException)
        {
            // None does now; who asks again is told so by the request.
        }
    }

    /// <summary>A request to this node.</summary>
    public HttpRequestMessage NewRequest(
        HttpMethod method,
        string path,
        HttpContent? content = null,
        (string Name, string Value)? header = null
    )
    {
        var request = new HttpRequestMessage(method, new Uri(_node.Address, path)) { Content = content };

        // A node that refuses a body for its size hangs up while it is sent, and its answer is lost with that: it is
        // asked first.
        request.Headers.ExpectContinue = content?.Headers.ContentLength > AskFromBytes ? true : null;
        if (header is var (name, value))
        {
            request.Headers.TryAddWithoutValidation(name, value);
        }

        return request;
    }

    /// <summary>The JSON of an answer.</summary>
    /// <exception cref="AdminException">It is none, or it broke off.</exception>
    public async Task<JsonElement> ReadJsonAsync(HttpResponseMessage answer, CancellationToken cancellation = default)
    {
        try
        {
            byte[] body = await ForeignAnswer.ReadAsync(answer.Content, _node.Address, cancellation);
            if (body.Length == 0)
            {
                return default;
            }

            using var document = JsonDocument.Parse(body, Parsing);
            return document.RootElement.Clone();
        }
        catch (JsonException)
        {
            throw new AdminException($"What answers at {_node.Address} is no Rookery.", ExitCode.Failure);
        }
        catch (HttpRequestException)
        {
            throw new AdminException($"The answer of {_node.Address} broke off.", ExitCode.Failure);
        }
    }

    /// <summary>Why a node refused, and how the process ends for it.</summary>
    public async Task<AdminException> RefusalOfAsync(
        HttpResponseMessage answer,
        CancellationToken cancellation = default
    )
    {
        if (answer.Headers.TryGetValues("Database-Missing", out var missing))
        {
            return new AdminException(
                $"There is no database '{Uri.UnescapeDataString(missing.First())}' at {_node.Address}. "
                    + $"`rookery db ls` lists them, `rookery db create NAME` makes one.",
                ExitCode.NotFound
            );
        }

        int code = answer.StatusCode switch
        {
            HttpStatusCode.BadRequest or HttpStatusCode.NotImplemented or HttpStatusCode.RequestEntityTooLarge =>
                ExitCode.Configuration,
            HttpStatusCode.NotFound => ExitCode.NotFound,
            HttpStatusCode.Conflict or HttpStatusCode.PreconditionFailed => ExitCode.Conflict,
            _ => ExitCode.Failure,
        };
        string? sentence = null;
        try
        {
            var json = await ReadJsonAsync(answer, cancellation);
            sentence =
                json.ValueKind == JsonValueKind.Object
                && json.TryGetProperty("Message", out var message)
                && message.ValueKind == JsonValueKind.String
                    ? message.GetString()
                    : null;
        }
        catch (AdminException)
        {
            // Without a sentence the status must do.
        }

        return new AdminException(
            sentence is not null
                ? NodeSentence.ForOwner(sentence, _node)
                : $"The node at {_node.Address} refused with status {(int)answer.StatusCode}.",
            code
        );
    }

    public void Dispose() => _client.Dispose();
}
