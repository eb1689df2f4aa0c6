using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Rookery.Hosting;

namespace Rookery.Access;

/// <summary>An HTTP client for the administrative routes of a node. Bounds each response to 60 seconds.</summary>
internal sealed class AdminClient : IDisposable
{
    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(60);

    private readonly HttpClient _client;
    private readonly NodeConnection _node;
    private readonly TimeProvider _time;

    /// <summary>Creates the client for one node.</summary>
    /// <param name="node">The node.</param>
    /// <param name="time">The clock that measures the time limit.</param>
    public AdminClient(NodeConnection node, TimeProvider time) =>
        (_node, _client, _time) = (node, node.NewClient(Timeout.InfiniteTimeSpan), time);

    /// <summary>Sends a request and returns the JSON of the response; an undefined element if it has no body.</summary>
    /// <param name="method">The HTTP method.</param>
    /// <param name="path">The path, with its query.</param>
    /// <param name="members">Writes the members of the request body's JSON object; null for no body.</param>
    /// <param name="acceptsUnready">Whether a response with 503 is returned instead of thrown.</param>
    /// <exception cref="AdminException">The node does not answer, or refuses the request.</exception>
    public async Task<JsonElement> SendAsync(
        HttpMethod method,
        string path,
        Action<Utf8JsonWriter>? members = null,
        bool acceptsUnready = false
    )
    {
        using var request = new HttpRequestMessage(method, new Uri(_node.Address, path));
        request.Content = members is null ? null : BodyOf(members);
        using var timeout = new CancellationTokenSource(RequestTimeout, _time);
        bool hasBegun = false;
        try
        {
            using var response = await _client.SendAsync(
                request,
                HttpCompletionOption.ResponseHeadersRead,
                timeout.Token
            );
            hasBegun = true;
            byte[] body = await ForeignAnswer.ReadAsync(response.Content, _node.Address, timeout.Token);
            return
                response.IsSuccessStatusCode
                || (acceptsUnready && response.StatusCode == HttpStatusCode.ServiceUnavailable)
                ? Parse(body)
                : throw new AdminException(
                    ReasonOf(body, (int)response.StatusCode),
                    NodeClient.ExitCodeOfNodeCommand(response.StatusCode)
                );
        }
        catch (HttpRequestException failure)
        {
            throw new AdminException(_node.Describe(failure), ExitCode.Failure);
        }
        catch (OperationCanceledException) when (hasBegun)
        {
            throw new AdminException(
                $"The node at {_node.Address} began its response but did not complete it within "
                    + $"{RequestTimeout.TotalSeconds} s: the node or its disk hangs. See its log; try again, or use "
                    + $"another node.",
                ExitCode.Failure
            );
        }
        catch (OperationCanceledException)
        {
            throw new AdminException(
                _node.NoAnswer($"nothing came within {RequestTimeout.TotalSeconds} s"),
                ExitCode.Failure
            );
        }
        catch (JsonException)
        {
            throw new AdminException($"The server at {_node.Address} is not Rookery.", ExitCode.Failure);
        }
    }

    public void Dispose() => _client.Dispose();

    private static ByteArrayContent BodyOf(Action<Utf8JsonWriter> members)
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

    private static JsonElement Parse(byte[] body)
    {
        if (body.Length == 0)
        {
            return default;
        }

        using var document = JsonDocument.Parse(body, NodeClient.Parsing);
        return document.RootElement.Clone();
    }

    private string ReasonOf(byte[] body, int status)
    {
        var answer = Parse(body);
        return
            answer.ValueKind == JsonValueKind.Object
            && answer.TryGetProperty("Message", out var message)
            && message.ValueKind == JsonValueKind.String
            && message.GetString() is { } sentence
            ? NodeSentence.ForCommandUser(sentence, _node)
            : $"The node refused with status {status}.";
    }
}
