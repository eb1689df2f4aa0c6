using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Bounds what answers hold whose clients do not take them. A client that stands still holds a part of its answer, and
/// as much again in the connection. When all together hold more than they may,
/// the one that has waited longest is broken off. Thread-safe.
/// </summary>
/// <param name="mostBytes">How much they may hold together.</param>
/// <param name="log">Where the owner of the node reads.</param>
internal sealed class SlowReaders(long mostBytes, ILogger log)
{
    private readonly Lock _gate = new();
    private readonly LinkedList<(HttpContext Http, long Bytes)> _waiting = [];
    private long _heldBytes;

    /// <summary>Those of the node that answers a request; null where it has none.</summary>
    public static SlowReaders? Of(HttpContext http) =>
        (http.RequestServices?.GetService(typeof(ServerContext)) as ServerContext)?.SlowReaders;

    /// <summary>Waits until the client has taken enough, or is broken off.</summary>
    /// <param name="http">The request.</param>
    /// <param name="bytes">What it holds meanwhile.</param>
    /// <param name="sending">Ends then.</param>
    public async ValueTask<FlushResult> WaitAsync(HttpContext http, long bytes, ValueTask<FlushResult> sending)
    {
        var place = Enter(http, bytes);
        try
        {
            return await sending;
        }
        finally
        {
            Leave(place);
        }
    }

    private LinkedListNode<(HttpContext Http, long Bytes)> Enter(HttpContext http, long bytes)
    {
        int broken = 0;
        LinkedListNode<(HttpContext Http, long Bytes)> place;
        lock (_gate)
        {
            place = _waiting.AddLast((http, bytes));
            _heldBytes += bytes;
            while (_heldBytes > mostBytes && _waiting.First is { } longest && longest != place)
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
                "Clients that do not take their answers hold {Bytes} of memory, the most that they may: the answer "
                    + "that waited longest was broken off.",
                Amount.Bytes(mostBytes)
            );
        }

        return place;
    }

    private void Leave(LinkedListNode<(HttpContext Http, long Bytes)> place)
    {
        lock (_gate)
        {
            if (place.List is not null)
            {
                Remove(place);
            }
        }
    }

    private void Remove(LinkedListNode<(HttpContext Http, long Bytes)> place)
    {
        _waiting.Remove(place);
        _heldBytes -= place.Value.Bytes;
    }
}
