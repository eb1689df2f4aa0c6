using System.Buffers;
using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Headers;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;

namespace Rookery.Redis.Messages;

/// <summary>
/// Passes published messages to the other members, over the port for members. A member that is not reached loses them:
/// they are volatile, as in Redis. Thread-safe.
/// </summary>
internal sealed class MemberRelay(RedisNode node)
{
    private readonly ConcurrentDictionary<string, MemberQueue> _queues = new(StringComparer.Ordinal);

    /// <summary>Passes a message on.</summary>
    public void Post(ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        var context = node.Context;
        if (context.Options.ConnectToMember is not { } connect)
        {
            return;
        }

        foreach (var member in node.Consensus.View.Members)
        {
            if (!member.IsSelf)
            {
                _queues
                    .GetOrAdd(
                        member.NodeId,
                        static (id, of) => new MemberQueue(of.node, id, of.connect),
                        (node, connect)
                    )
                    .Post(channel, message);
            }
        }
    }

    /// <summary>Receives messages of another member.</summary>
    public async Task ReceiveAsync(HttpContext http)
    {
        var input = http.Request.BodyReader;
        while (true)
        {
            var read = await input.ReadAsync(http.RequestAborted);
            var buffer = read.Buffer;
            while (MessageFrame.TryRead(ref buffer, out var channel, out var message))
            {
                node.Channels.Publish(channel.ToArray(), message.ToArray());
            }

            input.AdvanceTo(buffer.Start, buffer.End);
            if (read.IsCompleted)
            {
                http.Response.StatusCode =
                    buffer.Length == 0 ? StatusCodes.Status204NoContent : StatusCodes.Status400BadRequest;
                return;
            }
        }
    }

    /// <summary>The messages that wait for one member, and their sender.</summary>
    private sealed class MemberQueue(RedisNode node, string nodeId, Func<string, HttpClient?> connect)
    {
        private const int MaxWaitingBytes = 4 << 20;

        // A member that is not reached is not tried again for each message.
        private static readonly TimeSpan PauseAfterFailure = TimeSpan.FromSeconds(1);
        private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(5);

        private readonly Lock _gate = new();
        private PooledBytes _waiting = new();
        private PooledBytes _sending = new();
        private int _waitingCount;
        private bool _isSending;
        private HttpClient? _client;

        public void Post(ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
        {
            lock (_gate)
            {
                if (_waiting.Length + channel.Length + message.Length > MaxWaitingBytes)
                {
                    node.Metrics.CountLostPublications(1);
                    return;
                }

                MessageFrame.Append(_waiting, channel, message);
                _waitingCount++;
                if (_isSending)
                {
                    return;
                }

                _isSending = true;
            }

            _ = SocketThreads.RunOnPoolAsync(SendAsync);
        }

        private async Task SendAsync()
        {
            while (TryTake() is { } count)
            {
                if (await TrySendAsync())
                {
                    continue;
                }

                node.Metrics.CountLostPublications(count);
                _client?.Dispose();
                _client = null;
                await Task.Delay(PauseAfterFailure, node.Context.Time, CancellationToken.None);
            }
        }

        private int? TryTake()
        {
            lock (_gate)
            {
                if (_waitingCount == 0 || node.Context.Stopping.IsCancellationRequested)
                {
                    _waiting.Release();
                    _waitingCount = 0;
                    _isSending = false;
                    return null;
                }

                int count = _waitingCount;
                (_waiting, _sending) = (_sending, _waiting);
                _waiting.Clear();
                _waitingCount = 0;
                return count;
            }
        }

        private async Task<bool> TrySendAsync()
        {
            try
            {
                _client ??= connect(nodeId);
                if (_client is null)
                {
                    return false;
                }

                using var timeout = new CancellationTokenSource(AnswerTimeout, node.Context.Time);
                using var ending = CancellationTokenSource.CreateLinkedTokenSource(
                    timeout.Token,
                    node.Context.Stopping
                );
                using var content = new ReadOnlyMemoryContent(_sending.WrittenMemory);
                content.Headers.ContentType = new MediaTypeHeaderValue("application/octet-stream");
                using var response = await _client.PostAsync(
                    new Uri(RedisProtocol.PathOfMembers, UriKind.Relative),
                    content,
                    ending.Token
                );

                // A member that serves no Redis clients has no subscribers, so nothing is lost.
                return response.IsSuccessStatusCode || response.StatusCode == HttpStatusCode.NotFound;
            }
            catch (Exception unreached)
                when (unreached is HttpRequestException or IOException or OperationCanceledException)
            {
                return false;
            }
            finally
            {
                _sending.Clear();
            }
        }
    }
}
