using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Limits the memory of answers whose clients do not read them. Such a client holds a part of its answer, and as much
/// again in the connection's buffer. If all such parts together exceed the limit, the clients that wait longest are
/// disconnected, but none before <see cref="MinReadTime"/>. Thread-safe.
/// </summary>
/// <param name="maxBytes">Limit of the memory in bytes.</param>
/// <param name="log">Log of the node.</param>
/// <param name="time">The clock.</param>
internal sealed class SlowReaders(long maxBytes, ILogger log, TimeProvider time)
{
    /// <summary>Time that every client has to read a part of its answer.</summary>
    public static readonly TimeSpan MinReadTime = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly LinkedList<Waiting> _waiting = [];
    private long _heldBytes;

    /// <summary>Returns the instance of the server that answers a request; null without a server.</summary>
    public static SlowReaders? Of(HttpContext http) =>
        (http.RequestServices?.GetService(typeof(ServerContext)) as ServerContext)?.SlowReaders;

    /// <summary>Waits until the client has taken the part, or is disconnected.</summary>
    /// <param name="disconnect">Disconnects the client. Called under a lock, and only during the wait.</param>
    /// <param name="bytes">Bytes that the answer holds during the wait.</param>
    /// <param name="sending">Completes when the client has taken the part.</param>
    public async Task<FlushResult> WaitAsync(Action disconnect, long bytes, Task<FlushResult> sending)
    {
        var place = Enter(disconnect, bytes);
        try
        {
            return await sending.WaitAsync(MinReadTime, time);
        }
        catch (TimeoutException)
        {
            // If the part was taken at this moment, no client must be disconnected.
            if (!sending.IsCompleted)
            {
                DisconnectSlowest();
            }

            return await sending;
        }
        finally
        {
            Leave(place);
        }
    }

    private LinkedListNode<Waiting> Enter(Action disconnect, long bytes)
    {
        lock (_gate)
        {
            _heldBytes += bytes;
            return _waiting.AddLast(new Waiting(disconnect, bytes, time.GetTimestamp()));
        }
    }

    private void DisconnectSlowest()
    {
        int disconnected = 0;
        lock (_gate)
        {
            while (
                _heldBytes > maxBytes
                && _waiting.First is { } longest
                && time.GetElapsedTime(longest.Value.Since) >= MinReadTime
            )
            {
                Remove(longest);
                disconnected++;

                // Under the lock: after the request has been removed, its context may serve another request.
                longest.Value.Disconnect();
            }
        }

        if (disconnected > 0)
        {
            log.LogWarning(
                LogEvents.SlowReader,
                "Answers that their clients do not read held more than {Bytes} of memory, which is the limit: "
                    + "{Count} connections whose clients read nothing for {Seconds} s or longer were closed.",
                Amount.Bytes(maxBytes),
                disconnected,
                MinReadTime.TotalSeconds
            );
        }
    }

    private void Leave(LinkedListNode<Waiting> place)
    {
        lock (_gate)
        {
            if (place.List is not null)
            {
                Remove(place);
            }
        }
    }

    private void Remove(LinkedListNode<Waiting> place)
    {
        _waiting.Remove(place);
        _heldBytes -= place.Value.Bytes;
    }

    private readonly record struct Waiting(Action Disconnect, long Bytes, long Since);
}
