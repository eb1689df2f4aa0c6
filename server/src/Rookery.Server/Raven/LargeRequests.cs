using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;

namespace Rookery.Server.Raven;

/// <summary>
/// The room of all requests whose bodies, commands or answers are large. Whoever wants to hold more than
/// <see cref="FreeBytes"/> takes room for the most it will hold, before it does; who finds none waits briefly, in turn,
/// and is then answered 429. One alone always finds it. Nobody takes more while others may wait for what it has, unless
/// what it wants can be refused, so that two never wait for each other for ever.
/// </summary>
internal sealed class LargeRequests(MemoryBudget budget, TimeProvider time)
{
    /// <summary>What a request may hold without asking.</summary>
    public const int FreeBytes = 64 << 10;

    /// <summary>
    /// How many times the bytes of a document are held on the way into the journal: body, minimised and command while
    /// it is parsed; command, frame and payload while it is written.
    /// </summary>
    public const int CopiesOfWrite = 3;

    /// <summary>
    /// How many times those of a document that is patched: the version before, two steps of the patch, the version
    /// after, and its copies in the answer.
    /// </summary>
    public const int CopiesOfPatch = 6;

    /// <summary>
    /// How long room may be held for one thing: a body to come, a document of a stream, an answer to be taken. 32 MiB
    /// in that time are 56 KB/s.
    /// </summary>
    public static readonly TimeSpan Deadline = TimeSpan.FromMinutes(10);

    // A stream that has begun should not be refused any more: it outwaits whoever holds the room now.
    private static readonly TimeSpan LongPatience = Deadline + Admission.Patience;

    private readonly TimeProvider _time = time;
    private readonly Admission _admission = new(
        budget.TotalBytes / 4,
        time,
        budget.AddShare("large requests", budget.TotalBytes / 4)
    );

    /// <summary>Requests that were refused for want of room.</summary>
    public long Refused => _admission.Refused;

    /// <summary>Ends the wait of answers for room: the node stops.</summary>
    public CancellationToken Stopping { get; set; }

    /// <summary>Room for nothing yet.</summary>
    public Lease Begin(HttpContext http) => new(this, http);

    /// <summary>Waits for room.</summary>
    /// <exception cref="RefusedException">There was none in time: 429.</exception>
    /// <exception cref="OperationCanceledException">The client left.</exception>
    public async ValueTask<Lease> TakeAsync(HttpContext http, long bytes)
    {
        var lease = Begin(http);
        await lease.GrowAsync(bytes);
        return lease;
    }

    /// <summary>
    /// The refusal of a body that held its room for <see cref="Deadline"/> without coming to its end.
    /// </summary>
    public static RefusedException TooSlow(HttpContext http) =>
        new(
            StatusCodes.Status408RequestTimeout,
            RavenType.Timeout,
            $"The body of {http.Request.Method} {http.Request.Path} came too slowly: what is large must come "
                + $"within {Deadline.TotalMinutes} minutes, because others wait for the memory that it holds."
        );

    /// <summary>The refusal of a request for which there is no memory now.</summary>
    public RefusedException NoRoom(HttpContext http, long bytes)
    {
        if (!http.Response.HasStarted)
        {
            http.Response.Headers.RetryAfter = "1";
        }

        return new RefusedException(
            StatusCodes.Status429TooManyRequests,
            RavenType.RavenException,
            $"This request needs {Amount.Bytes(bytes)} of memory, and other large requests hold "
                + $"{Amount.Bytes(_admission.Bytes)} of the {Amount.Bytes(_admission.LimitBytes)} "
                + $"that a node with --memory {budget.TotalBytes >> 20}M has for them. "
                + "Nothing of it was done; try again in a second, send less at once, or give the node more memory."
        );
    }

    /// <summary>
    /// The room of one request, or of one part of its answer. From when it first holds bytes it has
    /// <see cref="Deadline"/>; then a read of the body is ended, or the connection cut, so that a client that is
    /// silent, or takes nothing, keeps no room from others. Who holds none has no timer. Disposing it again does
    /// nothing.
    /// </summary>
    internal sealed class Lease(LargeRequests requests, HttpContext http) : IDisposable
    {
        // The answer of a part of a multi_get goes out through the request around it.
        private readonly HttpContext _connection = http.Features.Get<MultiGetPart>()?.Around ?? http;
        private readonly Lock _gate = new();
        private long _bytes;
        private ITimer? _deadline;

        /// <summary>Bytes taken.</summary>
        public long Bytes => Volatile.Read(ref _bytes);

        /// <summary>
        /// The read that the deadline ends, which then returns cancelled; null when the body was read, and the deadline
        /// cuts the connection.
        /// </summary>
        public PipeReader? Reading { get; set; }

        /// <summary>Takes more at once, until there are so many bytes in all.</summary>
        public bool TryGrow(long bytes)
        {
            long more = bytes - _bytes;
            if (more > 0)
            {
                if (!requests._admission.TryEnter(more))
                {
                    return false;
                }

                Take(more);
            }

            return true;
        }

        /// <summary>Waits until there are so many bytes in all; patiently when the answer has begun.</summary>
        /// <exception cref="RefusedException">There was no room in time: 429.</exception>
        public ValueTask GrowAsync(long bytes) =>
            bytes <= _bytes
                ? ValueTask.CompletedTask
                : GrowAsync(bytes, isPatient: _connection.Response.HasStarted, http.RequestAborted);

        /// <summary>The same for what is read: nobody waits for that when the node stops.</summary>
        /// <exception cref="RefusedException">There was no room in time: 429.</exception>
        /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
        public async ValueTask GrowToReadAsync(long bytes)
        {
            if (!TryGrow(bytes))
            {
                using var ends = CancellationTokenSource.CreateLinkedTokenSource(
                    http.RequestAborted,
                    requests.Stopping
                );
                await GrowAsync(bytes, isPatient: _connection.Response.HasStarted, ends.Token);
            }
        }

        /// <inheritdoc cref="GrowAsync(long)"/>
        public async ValueTask GrowAsync(long bytes, bool isPatient, CancellationToken cancellation)
        {
            long more = bytes - _bytes;
            if (more <= 0)
            {
                return;
            }

            if (
                !await requests._admission.EnterAsync(
                    more,
                    _bytes,
                    isPatient ? LongPatience : Admission.Patience,
                    cancellation
                )
            )
            {
                throw requests.NoRoom(http, bytes);
            }

            Take(more);
        }

        /// <summary>Keeps so many bytes and gives the others back.</summary>
        public void Shrink(long bytes)
        {
            long given = _bytes - bytes;
            if (given > 0)
            {
                _bytes = bytes;
                requests._admission.Leave(given);
            }
        }

        /// <summary>Begins a new deadline: what the room was taken for is done, and it is used again.</summary>
        public void Renew() => _deadline?.Change(Deadline, Deadline);

        public void Dispose()
        {
            long given;
            lock (_gate)
            {
                given = _bytes;
                _bytes = 0;
                _deadline?.Dispose();
                _deadline = null;
            }

            if (given > 0)
            {
                requests._admission.Leave(given);
            }
        }

        private void Take(long more)
        {
            _bytes += more;

            // It repeats, for a read that came to its end just when it was to be ended: then the answer is cut off in
            // its turn.
            _deadline ??= requests._time.CreateTimer(static lease => ((Lease)lease!).End(), this, Deadline, Deadline);
        }

        // Not once the room was given back: the connection may serve another request by then.
        private void End()
        {
            lock (_gate)
            {
                if (_bytes == 0)
                {
                    return;
                }

                if (Reading is { } reading)
                {
                    reading.CancelPendingRead();
                }
                else
                {
                    _connection.Abort();
                }
            }
        }
    }
}
