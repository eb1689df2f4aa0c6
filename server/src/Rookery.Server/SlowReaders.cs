using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Bounds what answers hold whose clients do not take them. A client that stands still holds a part of its answer, and
/// as much again in the connection. When all together hold more than they may, those are broken off that have waited
/// longest, and for <see cref="Patience"/> at least: a client that is only busy takes its part within that.
/// Thread-safe.
/// </summary>
/// <param name="mostBytes">How much they may hold together.</param>
/// <param name="log">Where the owner of the node reads.</param>
/// <param name="time">The clock.</param>
internal sealed class SlowReaders(long mostBytes, ILogger log, TimeProvider time)
{
    /// <summary>How long a client may take for a part of its answer, whatever the others hold.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly LinkedList<Waiting> _waiting = [];
    private long _heldBytes;

    /// <summary>Those of the node that answers a request; null where it has none.</summary>
    public static SlowReaders? Of(HttpContext http) =>
        (http.RequestServices?.GetService(typeof(ServerContext)) as ServerContext)?.SlowReaders;

    /// <summary>Waits until the client has taken enough, or is broken off.</summary>
    /// <param name="http">The request.</param>
    /// <param name="bytes">What it holds meanwhile.</param>
    /// <param name="taking">Ends then.</param>
    public async Task<FlushResult> WaitAsync(HttpContext http, long bytes, Task<FlushResult> taking)
    {
        var place = Enter(http, bytes);
        try
        {
            return await taking.WaitAsync(Patience, time);
        }
        catch (TimeoutException)
        {
            // The part may have been taken at this moment: then there is nobody to break off, and no failure.
            if (!taking.IsCompleted)
            {
                BreakOffSlowest();
            }

            return await taking;
        }
        finally
        {
            Leave(place);
        }
    }

    private LinkedListNode<Waiting> Enter(HttpContext http, long bytes)
    {
        lock (_gate)
        {
            _heldBytes += bytes;
            return _waiting.AddLast(new Waiting(http, bytes, time.GetTimestamp()));
        }
    }

    private void BreakOffSlowest()
    {
        int broken = 0;
        lock (_gate)
        {
            while (
                _heldBytes > mostBytes
                && _waiting.First is { } longest
                && time.GetElapsedTime(longest.Value.Since) >= Patience
            )
            {
                Remove(longest);
                broken++;

                // Under the lock: who has left may have given its context to another request.
                longest.Value.Http.Abort();
            }
        }

        if (broken > 0)
        {
            log.LogWarning(
                LogEvents.SlowReader,
                "Clients that do not take their answers held more than {Bytes} of memory, the most that they may: "
                    + "{Count} that had waited for {Seconds} s or longer were broken off.",
                Amount.Bytes(mostBytes),
                broken,
                Patience.TotalSeconds
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

    private readonly record struct Waiting(HttpContext Http, long Bytes, long Since);
}
