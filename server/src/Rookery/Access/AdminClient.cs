using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Rookery.Hosting;

namespace Rookery.Access;

/// <summary>Asks a node for what only its owner may have.</summary>
internal sealed class AdminClient : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private const string OtherName = "Name its address with --url, or its data directory with --data.";

    private readonly HttpClient _client;
    private readonly NodeConnection _node;
    private readonly TimeProvider _time;

    /// <summary>Opens its connections.</summary>
    /// <param name="node">Whom it asks.</param>
    /// <param name="time">What bounds an answer.</param>
    public AdminClient(NodeConnection node, TimeProvider time) =>
        (_node, _client, _time) = (node, node.NewClient(Timeout.InfiniteTimeSpan), time);

    /// <summary>Sends a request and gives the answer's JSON; an undefined element when it has no body.</summary>
    /// <param name="method">The HTTP method.</param>
    /// <param name="path">The path, with its query.</param>
    /// <param name="members">Writes the members of the body's object, if there is one.</param>
    /// <param name="acceptsUnready">Whether 503 is an answer too.</param>
    /// <exception cref="AdminException">The node does not answer, or refused.</exception>
    public async Task<JsonElement> SendAsync(
        HttpMethod method,
        string path,
        Action<Utf8JsonWriter>? members = null,
        bool acceptsUnready = false
    )
    {
        using var request = new HttpRequestMessage(method, new Uri(_node.Address, path));
        request.Content = members is null ? null : BodyOf(members);
        using var patience = new CancellationTokenSource(Patience, _time);
        bool hasBegun = false;
        try
        {
            using var response = await _client.SendAsync(
                request,
                HttpCompletionOption.ResponseHeadersRead,
                patience.Token
            );
            hasBegun = true;
            byte[] body = await ForeignAnswer.ReadAsync(response.Content, _node.Address, patience.Token);
            return
                response.IsSuccessStatusCode
                || (acceptsUnready && response.StatusCode == HttpStatusCode.ServiceUnavailable)
                ? Parse(body)
                : throw new AdminException(
                    ReasonOf(body, (int)response.StatusCode),
                    response.StatusCode == HttpStatusCode.BadRequest ? ExitCode.Configuration : ExitCode.Failure
                );
        }
        catch (HttpRequestException failure)
        {
            throw new AdminException(_node.Describe(failure, OtherName), ExitCode.Failure);
        }
        catch (OperationCanceledException) when (hasBegun)
        {
            throw new AdminException(
                $"The node at {_node.Address} began to answer, and did not end within {Patience.TotalSeconds}"
                    + $" s: it hangs, or its disk does. Its log says more; try again, or ask another node.",
                ExitCode.Failure
            );
        }
        catch (OperationCanceledException)
        {
            throw new AdminException(
                $"No node answers at {_node.Address} (nothing came within {Patience.TotalSeconds} s). {OtherName}",
                ExitCode.Failure
            );
        }
        catch (JsonException)
        {
            throw new AdminException($"What answers at {_node.Address} is no Rookery.", ExitCode.Failure);
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
            ? NodeSentence.ForOwner(sentence, _node)
            : $"The node refused with status {status}.";
    }
}
