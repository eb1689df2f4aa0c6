using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;

namespace Rookery.Server.Raven;

/// <summary>
/// Limits the memory of requests whose bodies, commands or answers are large. They share a quarter of the memory
/// budget; a <see cref="Lease"/> is the part of it that a request was granted. A request takes a lease before it holds
/// more than <see cref="BytesWithoutLease"/>, for the maximum that it will hold. If no memory is free it waits briefly,
/// first come first served, and is then answered 429. If no other request holds a lease, a request always gets one. A
/// request with a lease takes more only while it can still be refused, so two requests never wait for each other
/// forever. While a request waits, bodies that come too slowly lose their lease (<see cref="SlowBodies"/>).
/// </summary>
internal sealed class LargeRequests(MemoryBudget budget, TimeProvider time)
{
    /// <summary>Bytes that a request may hold without a lease.</summary>
    public const int BytesWithoutLease = MemoryShare.BytesWithoutReservation;

    /// <summary>
    /// Copies of a document's bytes while it is written: body, minimised JSON and command during parsing; command,
    /// frame and payload during the journal write.
    /// </summary>
    public const int CopiesOfWrite = 3;

    /// <summary>
    /// Copies of a document's bytes while it is patched: the version before, two steps of the patch, the version after,
    /// and copies of it in the answer.
    /// </summary>
    public const int CopiesOfPatch = 6;

    /// <summary>
    /// Longest time for which a request may hold a lease for one transfer: receiving a body, sending a document of a
    /// stream, sending an answer. 32 MiB in that time are 56 KB/s.
    /// </summary>
    public static readonly TimeSpan Deadline = TimeSpan.FromMinutes(10);

    // A stream that has begun can no longer be refused, so it waits until the deadline of any other request has passed.
    private static readonly TimeSpan LongWaitTimeout = Deadline + Admission.WaitTimeout;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly TimeProvider _time = time;
    private readonly SlowBodies _bodies = new(time);
    private readonly Lock _waiting = new();
    private ITimer? _endSlow;
    private int _waitingCount;
    private readonly Admission _admission = new(
        budget.TotalBytes / 4,
        time,
        budget.AddShare("large requests", budget.TotalBytes / 4)
    );

    /// <summary>Number of requests refused because no memory was free.</summary>
    public long Refused => _admission.Refused;

    /// <summary>Number of requests that wait for memory.</summary>
    public int Waiting => Volatile.Read(ref _waitingCount);

    /// <summary>Cancelled when the node stops; responses then no longer wait for memory.</summary>
    public CancellationToken Stopping { get; set; }

    /// <summary>
    /// Returns a lease of zero bytes. A request inside a multi_get gets the lease of the multi_get, with its bytes.
    /// </summary>
    public Lease Begin(HttpContext http) => http.Features.Get<MultiGetPart>()?.Lease ?? new(this, http);

    /// <summary>Waits for memory and returns it as a lease. Dispose it to release the memory.</summary>
    /// <exception cref="RefusedException">There was no memory in time: 429.</exception>
    /// <exception cref="OperationCanceledException">The client closed the connection.</exception>
    public async ValueTask<Lease> TakeAsync(HttpContext http, long bytes)
    {
        var lease = Begin(http);
        await lease.GrowAsync(bytes);
        return lease;
    }

    /// <summary>
    /// Returns the error for a body that held its lease for <see cref="Deadline"/> and is still incomplete: 408.
    /// </summary>
    public static RefusedException TooSlow(HttpContext http) =>
        new(
            StatusCodes.Status408RequestTimeout,
            RavenType.Timeout,
            $"The body of {http.Request.Method} {http.Request.Path} came too slowly: a large body must arrive "
                + $"within {Deadline.TotalMinutes} minutes, and with {SlowBodies.BytesPerSecond >> 10} KiB a second "
                + "while other requests wait for the memory that it holds."
        );

    /// <summary>Returns the error for a request for which no memory is free: 429.</summary>
    /// <param name="bytes">The memory that it needs.</param>
    /// <param name="isPart">Whether a part of the request may be done. The caller adds which one.</param>
    public RefusedException CreateMemoryRefusal(long bytes, bool isPart = false) =>
        new(
            StatusCodes.Status429TooManyRequests,
            RavenType.RavenException,
            $"This request needs {Amount.Bytes(bytes)} of memory, and other large requests hold "
                + $"{Amount.Bytes(_admission.Bytes)} of the {Amount.Bytes(_admission.LimitBytes)} "
                + $"that a node with --memory {budget.TotalBytes >> 20}M has for them; other work may hold the rest. "
                + (isPart ? "Try" : "Nothing of it was done; try")
                + " again in a second, send less at once, or give the node more memory."
        );

    // One timer for all requests that wait; none while no request waits.
    private async Task<bool> WaitAsync(ValueTask<bool> entering)
    {
        lock (_waiting)
        {
            if (_waitingCount++ == 0)
            {
                _endSlow = _time.CreateTimer(
                    static bodies => ((SlowBodies)bodies!).EndSlow(),
                    _bodies,
                    Interval,
                    Interval
                );
            }
        }

        try
        {
            return await entering;
        }
        finally
        {
            lock (_waiting)
            {
                if (--_waitingCount == 0)
                {
                    _endSlow?.Dispose();
                    _endSlow = null;
                }
            }
        }
    }

    /// <summary>
    /// The memory of one request, also of all requests inside a multi_get. The <see cref="Deadline"/> begins when the
    /// lease first holds bytes. When it has passed, the lease cancels the read of the body or closes the connection, so
    /// that a client that sends or reads nothing cannot keep memory from other requests. A lease of zero bytes has no
    /// timer. It may be disposed twice.
    /// </summary>
    internal sealed class Lease(LargeRequests requests, HttpContext http) : IDisposable
    {
        private readonly Lock _gate = new();
        private long _bytes;
        private ITimer? _deadline;

        /// <summary>Bytes held.</summary>
        public long Bytes => Volatile.Read(ref _bytes);

        /// <summary>
        /// Bytes that <see cref="Dispose"/> leaves in the lease: those of a multi_get, while its inner requests use its
        /// lease one after the other.
        /// </summary>
        public long OuterBytes { get; set; }

        /// <summary>How long the client may still send nothing while other requests wait.</summary>
        public TimeSpan Credit { get; set; }

        /// <summary>
        /// Reads from a body. If it holds memory and other requests wait, the read may be cancelled.
        /// </summary>
        public ValueTask<ReadResult> ReadAsync(PipeReader body, CancellationToken cancellation = default) =>
            requests._bodies.ReadAsync(this, body, cancellation);

        /// <summary>
        /// The reader whose pending read is cancelled at the deadline. Null once the body is read; the connection is
        /// then closed at the deadline.
        /// </summary>
        public PipeReader? Reading { get; set; }

        /// <summary>
        /// Grows the lease to <paramref name="bytes"/> in total, if memory is free now. Returns false if it is not.
        /// </summary>
        public bool TryGrow(long bytes)
        {
            long additional = bytes - _bytes;
            if (additional > 0)
            {
                if (!requests._admission.TryEnter(additional))
                {
                    return false;
                }

                AddRoom(additional);
            }

            return true;
        }

        /// <summary>
        /// Waits until the lease holds <paramref name="bytes"/> in total. Waits longer if the answer has begun, because
        /// it can no longer be refused.
        /// </summary>
        /// <exception cref="RefusedException">There was no memory in time: 429.</exception>
        public ValueTask GrowAsync(long bytes) =>
            bytes <= _bytes
                ? ValueTask.CompletedTask
                : GrowAsync(bytes, waitsLong: http.Response.HasStarted, http.RequestAborted);

        /// <summary>
        /// Waits like <see cref="GrowAsync(long)"/>, but gives up when the node stops. For reads only: a write is still
        /// answered then.
        /// </summary>
        /// <exception cref="RefusedException">There was no memory in time: 429.</exception>
        /// <exception cref="OperationCanceledException">The client closed the connection, or the node
        /// stops.</exception>
        public async ValueTask GrowToReadAsync(long bytes)
        {
            if (!TryGrow(bytes))
            {
                using var linked = CancellationTokenSource.CreateLinkedTokenSource(
                    http.RequestAborted,
                    requests.Stopping
                );
                await GrowAsync(bytes, waitsLong: http.Response.HasStarted, linked.Token);
            }
        }

        /// <summary>Waits until the lease holds <paramref name="bytes"/> in total.</summary>
        /// <param name="bytes">The bytes.</param>
        /// <param name="waitsLong">Whether a part of the request may be done or answered, so that it waits until the
        /// deadline of any other request has passed.</param>
        /// <param name="cancellation">Ends the wait.</param>
        /// <exception cref="RefusedException">There was no memory in time: 429.</exception>
        public async ValueTask GrowAsync(long bytes, bool waitsLong, CancellationToken cancellation)
        {
            long additional = bytes - _bytes;
            if (additional <= 0)
            {
                return;
            }

            var entering = requests._admission.EnterAsync(
                additional,
                _bytes,
                waitsLong ? LongWaitTimeout : Admission.WaitTimeout,
                cancellation
            );
            if (!(entering.IsCompleted ? await entering : await requests.WaitAsync(entering)))
            {
                throw requests.CreateMemoryRefusal(bytes, isPart: waitsLong);
            }

            AddRoom(additional);
        }

        /// <summary>Releases all but <paramref name="bytes"/>.</summary>
        public void Shrink(long bytes)
        {
            long released = _bytes - bytes;
            if (released > 0)
            {
                _bytes = bytes;
                requests._admission.Leave(released);
            }
        }

        /// <summary>Begins a new deadline, because the memory is used for the next transfer.</summary>
        public void Renew() => _deadline?.Change(Deadline, Deadline);

        /// <summary>Releases all memory and ends the deadline. The lease can grow again.</summary>
        public void ReleaseAll()
        {
            long released;
            lock (_gate)
            {
                released = _bytes;
                _bytes = 0;
                _deadline?.Dispose();
                _deadline = null;
            }

            if (released > 0)
            {
                requests._admission.Leave(released);
            }
        }

        /// <inheritdoc/>
        public void Dispose()
        {
            if (OuterBytes == 0)
            {
                ReleaseAll();
            }
            else
            {
                Shrink(OuterBytes);
            }
        }

        private void AddRoom(long additional)
        {
            Credit = _bytes == 0 ? SlowBodies.MaxDelay : Credit;
            _bytes += additional;

            // The timer repeats: if the read completed just before the first expiry cancelled it, the next expiry
            // closes the connection while the answer is sent.
            _deadline ??= requests._time.CreateTimer(static lease => ((Lease)lease!).End(), this, Deadline, Deadline);
        }

        /// <summary>
        /// Cancels the read of the body. Does nothing if the body is read: its request must be answered.
        /// </summary>
        public void EndReading()
        {
            lock (_gate)
            {
                if (_bytes != 0)
                {
                    Reading?.CancelPendingRead();
                }
            }
        }

        /// <summary>
        /// Cancels the read of the body, or closes the connection. A lease without memory is over, and its connection
        /// may already serve another request.
        /// </summary>
        public void End()
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
                    http.Abort();
                }
            }
        }
    }
}
