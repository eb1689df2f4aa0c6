using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Json;

namespace Rookery.Access;

/// <summary>
/// An HTTP client for documents, queries and indexes. Responses need not fit into memory. The response to a GET must
/// begin within <see cref="ResponseWait.Longest"/>. The response to another method may take longer while the node
/// answers other requests (<see cref="ResponseWait.BoundLongWorkAsync"/>), because a query or a write may be long.
/// </summary>
/// <param name="node">The node.</param>
/// <param name="named">All nodes that the user named, including this one. A long operation may continue at another
/// node of the list.</param>
/// <param name="time">The clock that measures the time limit; null for the system's.</param>
internal sealed class NodeClient(
    NodeConnection node,
    IReadOnlyList<NodeConnection>? named = null,
    TimeProvider? time = null
) : IDisposable
{
    private const long ExpectContinueFromBytes = 1 << 20;

    private readonly TimeProvider _time = time ?? TimeProvider.System;
    private NodeConnection _node = node;
    private HttpClient _client = node.NewClient(Timeout.InfiniteTimeSpan);

    /// <summary>The JSON options for responses with documents.</summary>
    public static JsonDocumentOptions Parsing => new() { MaxDepth = JsonLimits.MaxEnvelopeDepth };

    /// <summary>The node's address.</summary>
    public Uri Address => _node.Address;

    /// <summary>Whether the user named more than one node.</summary>
    public bool HasOthers => named is { Count: > 1 };

    /// <summary>Returns the URL path of a database.</summary>
    public static string PathOf(string database) => $"/databases/{Uri.EscapeDataString(database)}";

    /// <summary>Creates a request body of one JSON object.</summary>
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

    /// <summary>Sends a request and returns the response, whatever its status. The caller reads the body.</summary>
    /// <exception cref="AdminException">The node does not answer, or hangs.</exception>
    public Task<HttpResponseMessage> AskAsync(HttpRequestMessage request, CancellationToken cancellation = default) =>
        AskAsync(request, longestWork: null, cancellation);

    /// <summary>Like <see cref="AskAsync(HttpRequestMessage, CancellationToken)"/>, for a request that is no GET.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="longestWork">The longest wait while the node answers other requests; null for an hour.</param>
    /// <param name="cancellation">Cancels the request.</param>
    /// <exception cref="AdminException">The node does not answer, or hangs.</exception>
    public async Task<HttpResponseMessage> AskAsync(
        HttpRequestMessage request,
        TimeSpan? longestWork,
        CancellationToken cancellation = default
    )
    {
        try
        {
            return request.Method == HttpMethod.Get
                ? await ResponseWait.BoundBeginningAsync(
                    _node.Address,
                    _time,
                    limited => _client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, limited),
                    cancellation
                )
                : await ResponseWait.BoundLongWorkAsync(
                    _node,
                    _time,
                    ends => _client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, ends),
                    longestWork,
                    cancellation
                );
        }
        catch (HttpRequestException failure)
        {
            throw new AdminException(_node.Describe(failure), ExitCode.Failure);
        }
    }

    /// <summary>Sends a request and returns the response if it succeeded.</summary>
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

    /// <summary>Sends a request and returns the JSON of the response; an undefined element if it has no body.</summary>
    /// <param name="method">The HTTP method.</param>
    /// <param name="path">The path, with its query.</param>
    /// <param name="content">The request body; null for none.</param>
    /// <param name="missing">The message for a response with 404 and no body.</param>
    /// <param name="cancellation">Cancels the request.</param>
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
        if (answer.IsSuccessStatusCode)
        {
            return await ReadJsonAsync(answer, cancellation);
        }

        if (
            answer.StatusCode == HttpStatusCode.NotFound
            && missing is not null
            && answer.Content.Headers.ContentType is null
        )
        {
            throw new AdminException(missing, ExitCode.NotFound);
        }

        throw await RefusalOfAsync(answer, cancellation);
    }

    /// <summary>
    /// Switches to the next of the named nodes that answers. For use after a refusal or timeout, because this node may
    /// be cut off from the other members. Stays with this node if no other answers. No request may be in progress.
    /// </summary>
    public async Task SwitchNodeAsync()
    {
        if (named is not { Count: > 1 })
        {
            return;
        }

        try
        {
            int index = named.TakeWhile(other => other != _node).Count();
            var answering = await NodeChoice.FirstThatAnswersAsync([
                .. named.Skip(index + 1),
                .. named.Take(index + 1),
            ]);
            if (answering != _node)
            {
                _client.Dispose();
                _node = answering;
                _client = answering.NewClient(Timeout.InfiniteTimeSpan);
            }
        }
        catch (AdminException)
        {
            // No node answers now. The next request reports it.
        }
    }

    /// <summary>Creates a request to this node.</summary>
    public HttpRequestMessage NewRequest(
        HttpMethod method,
        string path,
        HttpContent? content = null,
        (string Name, string Value)? header = null
    )
    {
        var request = new HttpRequestMessage(method, new Uri(_node.Address, path)) { Content = content };

        // A node that refuses a body because of its size closes the connection while the body is being sent, which
        // loses its response. With Expect: 100-continue it refuses before the body is sent.
        request.Headers.ExpectContinue = content?.Headers.ContentLength > ExpectContinueFromBytes ? true : null;
        if (header is { } added)
        {
            request.Headers.TryAddWithoutValidation(added.Name, added.Value);
        }

        return request;
    }

    /// <summary>Reads the whole body of a response. Fails if the body stops arriving.</summary>
    /// <exception cref="AdminException">The body is too long, or the node stopped sending.</exception>
    /// <exception cref="HttpRequestException">The connection broke.</exception>
    public Task<byte[]> ReadBodyAsync(HttpResponseMessage answer, CancellationToken cancellation = default) =>
        ForeignAnswer.ReadAsync(answer.Content, _node.Address, cancellation, time: _time);

    /// <summary>Opens the body of a response as a stream whose reads end if the node hangs.</summary>
    /// <param name="answer">The response.</param>
    /// <param name="cancellation">Ends synchronous reads.</param>
    public async Task<Stream> OpenBodyAsync(HttpResponseMessage answer, CancellationToken cancellation) =>
        new BoundedReads(await answer.Content.ReadAsStreamAsync(cancellation), _node, _time, cancellation);

    /// <summary>Reads the JSON of a response.</summary>
    /// <exception cref="AdminException">The response is not JSON, or the connection broke.</exception>
    public async Task<JsonElement> ReadJsonAsync(HttpResponseMessage answer, CancellationToken cancellation = default)
    {
        try
        {
            byte[] body = await ReadBodyAsync(answer, cancellation);
            if (body.Length == 0)
            {
                return default;
            }

            using var document = JsonDocument.Parse(body, Parsing);
            return document.RootElement.Clone();
        }
        catch (JsonException)
        {
            throw new AdminException($"The server at {_node.Address} is not Rookery.", ExitCode.Failure);
        }
        catch (HttpRequestException)
        {
            throw new AdminException(
                $"The connection to {_node.Address} broke during its response. Try again.",
                ExitCode.Failure
            );
        }
    }

    /// <summary>Returns the exit code of a command whose request was answered with a status.</summary>
    public static int ExitCodeOf(HttpStatusCode status) =>
        status switch
        {
            HttpStatusCode.BadRequest or HttpStatusCode.NotImplemented or HttpStatusCode.RequestEntityTooLarge =>
                ExitCode.Configuration,
            HttpStatusCode.NotFound => ExitCode.NotFound,
            HttpStatusCode.Conflict or HttpStatusCode.PreconditionFailed => ExitCode.Conflict,
            _ => ExitCode.Failure,
        };

    /// <summary>
    /// Returns the exit code of a command for the node. <see cref="ExitCode.Conflict"/> is only for documents and
    /// databases.
    /// </summary>
    public static int ExitCodeOfNodeCommand(HttpStatusCode status)
    {
        int code = ExitCodeOf(status);
        return code == ExitCode.Conflict ? ExitCode.Failure : code;
    }

    /// <summary>Returns the reason of a refusal and its exit code.</summary>
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

        int code = ExitCodeOf(answer.StatusCode);
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
            // The body has no message, so the status is reported.
        }

        return new AdminException(
            sentence is not null
                ? NodeSentence.ForCommandUser(sentence, _node)
                : $"The node at {_node.Address} refused with status {(int)answer.StatusCode}.",
            code
        );
    }

    public void Dispose() => _client.Dispose();
}
