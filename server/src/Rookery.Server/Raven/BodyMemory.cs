using Microsoft.AspNetCore.Http;
using Rookery.Disk;

namespace Rookery.Server.Raven;

/// <summary>
/// Bounds what the bodies of all requests, and large documents in answers, hold together, beyond the first 64 KiB of each. One that finds no room waits briefly and is then answered 429; one alone always
/// finds it. Without it a few dozen large batches at once would take more memory than the process has, before admission ever saw them.
/// </summary>
internal sealed class BodyMemory(MemoryBudget budget, long limitBytes, TimeProvider time)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LookAgain = TimeSpan.FromMilliseconds(20);

    private readonly MemoryShare _share = budget.AddShare("request bodies", limitBytes);
    private long _bytes;

    /// <summary>What one body holds: nothing yet.</summary>
    public Lease Begin() => new(this);

    /// <summary>The same, given back when the request is answered.</summary>
    public Lease BeginUntilAnswered(HttpContext http)
    {
        var room = new Lease(this);
        http.Response.RegisterForDispose(room);
        return room;
    }

    /// <summary>Takes room for a large answer at once.</summary>
    /// <exception cref="RefusedException">There is none: 429.</exception>
    public Lease Take(HttpContext http, long bytes) => TryTake(bytes) ? new Lease(this, bytes) : throw NoRoom(http);

    /// <summary>The refusal of a request for which there is no memory now.</summary>
    public static RefusedException NoRoom(HttpContext http)
    {
        http.Response.Headers.RetryAfter = "1";
        return new RefusedException(
            StatusCodes.Status429TooManyRequests, RavenType.RavenException, "Too many large requests came at once. Nothing of this one was stored; try again in a second.");
    }

    private async ValueTask TakeAsync(HttpContext http, long bytes)
    {
        long begun = time.GetTimestamp();
        while (!TryTake(bytes))
        {
            if (time.GetElapsedTime(begun) >= Patience)
            {
                throw NoRoom(http);
            }

            await Task.Delay(LookAgain, time, http.RequestAborted);
        }
    }

    private void GiveBack(long bytes)
    {
        Interlocked.Add(ref _bytes, -bytes);
        _share.Release(bytes);
    }

    private bool TryTake(long bytes)
    {
        long now = Volatile.Read(ref _bytes);
        while (now == 0 || now + bytes <= limitBytes)
        {
            long seen = Interlocked.CompareExchange(ref _bytes, now + bytes, now);
            if (seen == now)
            {
                _share.Reserve(bytes);
                return true;
            }

            now = seen;
        }

        return false;
    }

    /// <summary>The room of one body. Disposing it again does nothing.</summary>
    internal sealed class Lease(BodyMemory memory, long taken = 0) : IDisposable
    {
        private long _taken = taken;

        /// <summary>Waits for room for as many bytes in all.</summary>
        /// <exception cref="RefusedException">There was none in time: 429.</exception>
        public async ValueTask GrowAsync(HttpContext http, int bytes)
        {
            long more = bytes - _taken;
            if (more > 0)
            {
                await memory.TakeAsync(http, more);
                _taken += more;
            }
        }

        public void Dispose() => memory.GiveBack(Interlocked.Exchange(ref _taken, 0));
    }
}
