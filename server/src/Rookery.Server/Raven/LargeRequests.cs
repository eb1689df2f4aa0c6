using Microsoft.AspNetCore.Http;
using Rookery.Disk;

namespace Rookery.Server.Raven;

/// <summary>
/// The room of all requests whose bodies, commands or answers are large. Whoever wants to hold more than <see cref="FreeBytes"/> takes room for the most it will hold, before it
/// does; who finds none waits briefly, in turn, and is then answered 429. One alone always finds it. Nobody takes more while others may wait for what it has, unless what it
/// wants can be refused, so that two never wait for each other for ever.
/// </summary>
internal sealed class LargeRequests(MemoryBudget budget, TimeProvider time)
{
    /// <summary>What a request may hold without asking.</summary>
    public const int FreeBytes = 64 << 10;

    /// <summary>How many times the bytes of a document are held on the way into the journal: body, minimised and command while it is parsed; command, frame and payload while it is written.</summary>
    public const int CopiesOfWrite = 3;

    /// <summary>How many times those of a document that is patched: the version before, two steps of the patch, the version after, and its copies in the answer.</summary>
    public const int CopiesOfPatch = 6;

    // A stream that has begun should not be refused any more; whoever holds room gives it back within ten minutes.
    private const int TriesOfPatient = 120;

    private readonly Admission _admission = new(budget.TotalBytes / 4, time, budget.AddShare("large requests", budget.TotalBytes / 4));

    /// <summary>Requests that were refused for want of room.</summary>
    public long Refused => _admission.Refused;

    /// <summary>Room for nothing yet.</summary>
    public Lease Begin() => new(_admission, 0);

    /// <summary>Takes room at once; null when there is none.</summary>
    public Lease? TryTake(long bytes) => _admission.TryEnter(bytes) ? new Lease(_admission, bytes) : null;

    /// <summary>Waits for room.</summary>
    /// <exception cref="RefusedException">There was none in time: 429.</exception>
    /// <exception cref="OperationCanceledException">The client left.</exception>
    public async ValueTask<Lease> TakeAsync(HttpContext http, long bytes)
    {
        var lease = Begin();
        await lease.GrowAsync(this, http, bytes);
        return lease;
    }

    /// <summary>The refusal of a request for which there is no memory now.</summary>
    public RefusedException NoRoom(HttpContext http, long bytes)
    {
        http.Response.Headers.RetryAfter = "1";
        return new RefusedException(
            StatusCodes.Status429TooManyRequests,
            RavenType.RavenException,
            $"This request needs {bytes} bytes of memory, and other large requests hold {_admission.Bytes} bytes of the {_admission.LimitBytes} that a node with --memory {budget.TotalBytes >> 20}M has for them. Nothing of it was done; try again in a second, send less at once, or give the node more memory.");
    }

    private async ValueTask<bool> EnterAsync(long bytes, bool isPatient, CancellationToken cancellation)
    {
        for (int tries = isPatient ? TriesOfPatient : 1; tries > 0; tries--)
        {
            if (await _admission.EnterAsync(bytes, cancellation))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The room of one request, or of one part of its answer. Disposing it again does nothing.</summary>
    internal sealed class Lease(Admission admission, long bytes) : IDisposable
    {
        private long _bytes = bytes;

        /// <summary>Bytes taken.</summary>
        public long Bytes => Volatile.Read(ref _bytes);

        /// <summary>Takes more at once, until there are so many bytes in all.</summary>
        public bool TryGrow(long bytes)
        {
            long more = bytes - _bytes;
            if (more > 0)
            {
                if (!admission.TryEnter(more))
                {
                    return false;
                }

                _bytes += more;
            }

            return true;
        }

        /// <summary>Waits until there are so many bytes in all.</summary>
        /// <exception cref="RefusedException">There was no room in time: 429.</exception>
        public ValueTask GrowAsync(LargeRequests requests, HttpContext http, long bytes) =>
            GrowAsync(requests, http, bytes, isPatient: http.Response.HasStarted, http.RequestAborted);

        /// <inheritdoc cref="GrowAsync(LargeRequests, HttpContext, long)"/>
        public async ValueTask GrowAsync(LargeRequests requests, HttpContext http, long bytes, bool isPatient, CancellationToken cancellation)
        {
            long more = bytes - _bytes;
            if (more <= 0)
            {
                return;
            }

            if (!await requests.EnterAsync(more, isPatient, cancellation))
            {
                throw requests.NoRoom(http, bytes);
            }

            _bytes += more;
        }

        public void Dispose()
        {
            long given = Interlocked.Exchange(ref _bytes, 0);
            if (given > 0)
            {
                admission.Leave(given);
            }
        }
    }
}
