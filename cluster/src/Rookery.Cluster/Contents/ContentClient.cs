using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>
/// Asks other members over <see cref="ContentRoutes"/>. Keeps a client for each member for a few minutes, because
/// certificates and addresses change. Thread-safe.
/// </summary>
/// <param name="clientOf">Makes a client for a member's port; returns null when no address is known.</param>
/// <param name="nameOf">Returns a member's name, for messages.</param>
/// <param name="time">The clock.</param>
internal sealed class ContentClient(Func<NodeId, HttpClient?> clientOf, Func<NodeId, string> nameOf, TimeProvider time)
    : IContentPeers,
        IDisposable
{
    private static readonly TimeSpan ClientLife = TimeSpan.FromMinutes(5);

    private readonly Lock _gate = new();
    private readonly Dictionary<NodeId, (HttpClient Client, long MadeAt)> _clients = [];

    /// <inheritdoc/>
    public Task<ContentPiece> ReadAsync(
        NodeId member,
        ContentName name,
        long from,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    ) =>
        AskAsync(
            member,
            async (client, ended) =>
            {
                string path =
                    $"{ContentRoutes.Prefix}/{ContentEncoding.ToText(name)}?from={ContentEncoding.ToText(from)}";
                using var answer = await client.GetAsync(path, HttpCompletionOption.ResponseHeadersRead, ended);
                var state = (ContentState)ReadNumber(answer.Headers, ContentEncoding.StateHeader);
                long applied = ReadNumber(answer.Headers, ContentEncoding.IndexHeader);
                if (answer.StatusCode == HttpStatusCode.NotFound && state is ContentState.Gone or ContentState.Damaged)
                {
                    return new ContentPiece(state, Bytes: 0, applied);
                }

                Require(answer);
                long length = answer.Content.Headers.ContentLength ?? -1;
                if (length < 0 || length > ReplicatedContents.PieceBytes || length > name.Size - from)
                {
                    throw new IOException("it sent a piece of a wrong length.");
                }

                await using var body = await answer.Content.ReadAsStreamAsync(ended);
                await body.ReadExactlyAsync(buffer[..(int)length], ended);
                return new ContentPiece(ContentState.Whole, (int)length, applied);
            },
            cancellationToken
        );

    /// <inheritdoc/>
    public Task<ContentListing> ListAsync(NodeId member, ContentName? after, CancellationToken cancellationToken) =>
        AskAsync(
            member,
            async (client, ended) =>
            {
                string query = after is { } last ? $"?after={ContentEncoding.ToText(last)}" : string.Empty;
                using var answer = await client.GetAsync(ContentRoutes.Prefix + query, ended);
                if (answer.StatusCode == HttpStatusCode.NotFound)
                {
                    return new ContentListing([], long.MaxValue, []); // an older program, without attachments
                }

                Require(answer);
                return ContentEncoding.DecodeListing(await answer.Content.ReadAsByteArrayAsync(ended))
                    ?? throw new IOException("it sent a list of attachments that does not decode.");
            },
            cancellationToken
        );

    /// <inheritdoc/>
    public Task<OfferAnswer> OfferAsync(
        NodeId member,
        IReadOnlyList<ContentName> names,
        CancellationToken cancellationToken
    ) =>
        AskAsync(
            member,
            async (client, ended) =>
            {
                using var body = new ByteArrayContent(ContentEncoding.Encode(names));
                using var answer = await client.PostAsync(ContentRoutes.Prefix, body, ended);
                Require(answer);
                return ContentEncoding.DecodeAnswer(await answer.Content.ReadAsByteArrayAsync(ended))
                    ?? throw new IOException("it answered an offer with something else.");
            },
            cancellationToken
        );

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var (client, _) in _clients.Values)
            {
                client.Dispose();
            }

            _clients.Clear();
        }
    }

    private async Task<T> AskAsync<T>(
        NodeId member,
        Func<HttpClient, CancellationToken, Task<T>> ask,
        CancellationToken cancellationToken
    )
    {
        var client = ClientOf(member);
        try
        {
            return await ResponseTimeout.RunAsync(
                ResponseTimeout.BetweenPieces,
                time,
                ended => ask(client, ended),
                cancellationToken
            );
        }
        catch (ContentAnswerException refused)
        {
            // The connection works. A new connection would cost a handshake and change nothing.
            throw new IOException($"{nameOf(member)} refuses: {refused.Message}", refused);
        }
        catch (Exception failure)
            when (failure is HttpRequestException or IOException or TimeoutException or ObjectDisposedException
                || (failure is OperationCanceledException && !cancellationToken.IsCancellationRequested)
            )
        {
            Forget(member, client);
            throw new IOException($"{nameOf(member)} cannot be asked: {failure.Message}", failure);
        }
    }

    private HttpClient ClientOf(NodeId member)
    {
        lock (_gate)
        {
            if (_clients.TryGetValue(member, out var kept) && time.GetElapsedTime(kept.MadeAt) < ClientLife)
            {
                return kept.Client;
            }

            // Running requests still use the old client, so it is not disposed here but by the garbage collector.
            var client = clientOf(member) ?? throw new IOException($"It is not known where {nameOf(member)} is.");
            _clients[member] = (client, time.GetTimestamp());
            return client;
        }
    }

    private void Forget(NodeId member, HttpClient client)
    {
        lock (_gate)
        {
            if (_clients.TryGetValue(member, out var kept) && ReferenceEquals(kept.Client, client))
            {
                _clients.Remove(member);
            }
        }
    }

    /// <summary>Thrown when a member answers with another status than 200.</summary>
    private sealed class ContentAnswerException(string message) : IOException(message);

    private static void Require(HttpResponseMessage answer)
    {
        if (answer.StatusCode != HttpStatusCode.OK)
        {
            throw new ContentAnswerException(
                string.Create(CultureInfo.InvariantCulture, $"it answers with status {(int)answer.StatusCode}.")
            );
        }
    }

    private static long ReadNumber(HttpResponseHeaders headers, string name) =>
        headers.TryGetValues(name, out var values)
        && long.TryParse(values.FirstOrDefault(), NumberStyles.None, CultureInfo.InvariantCulture, out long number)
            ? number
            : -1;
}
