using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven.Attachments;

/// <summary>
/// The minimum rate of an attachment's content in a body that may pause elsewhere:
/// <see cref="SlowBodies.BytesPerSecond"/>. If a content falls behind by more than its credit, the read of the body is
/// cancelled, because an upload holds room on the disk. Not thread-safe.
/// </summary>
internal sealed class ContentPace(TimeProvider time, PipeReader body) : IDisposable
{
    /// <summary>How long a client that has sent fast may then be silent within a content.</summary>
    public static readonly TimeSpan MaxCredit = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private ITimer? _end;
    private TimeSpan _credit;
    private long _since; // when the read began
    private bool _isReading;
    private bool _isCancelled;

    /// <summary>Returns the error for a content that came too slowly: 408.</summary>
    public static RefusedException TooSlow() =>
        new(
            StatusCodes.Status408RequestTimeout,
            RavenType.Timeout,
            "The content of an attachment came too slowly: while it arrives it holds room on the disk, so it must come "
                + $"with {SlowBodies.BytesPerSecond >> 10} KiB a second."
        );

    /// <summary>Begins a content.</summary>
    public void Begin() => _credit = SlowBodies.MaxDelay;

    /// <summary>Waits for a read of the body that has begun. Its result is cancelled if the content is too slow; then
    /// no further read may begin.</summary>
    public async ValueTask<ReadResult> WaitAsync(ValueTask<ReadResult> reading)
    {
        _since = time.GetTimestamp();
        if (!reading.IsCompleted)
        {
            lock (_gate)
            {
                _isReading = true;
            }

            // One timer serves all reads of the bulk insert.
            _end ??= time.CreateTimer(
                static pace => ((ContentPace)pace!).End(),
                this,
                Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan
            );
            _end.Change(_credit > TimeSpan.Zero ? _credit : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        }

        ReadResult read;
        bool isTooSlow;
        try
        {
            read = await reading;
        }
        finally
        {
            lock (_gate)
            {
                // If the timer fires just now, it must not cancel the next read, which may be for a heartbeat.
                _isReading = false;
                isTooSlow = _isCancelled;
            }

            _end?.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }

        if (isTooSlow)
        {
            return new ReadResult(read.Buffer, isCanceled: true, read.IsCompleted);
        }

        var credit =
            _credit
            - time.GetElapsedTime(_since)
            + TimeSpan.FromSeconds((double)read.Buffer.Length / SlowBodies.BytesPerSecond);
        _credit = credit > MaxCredit ? MaxCredit : credit;
        return read;
    }

    /// <inheritdoc/>
    public void Dispose() => _end?.Dispose();

    private void End()
    {
        lock (_gate)
        {
            if (!_isReading)
            {
                return;
            }

            // A timer that fires just as a read completes may arrive here during the next read.
            var left = _credit - time.GetElapsedTime(_since);
            if (left > TimeSpan.Zero)
            {
                _end!.Change(left, Timeout.InfiniteTimeSpan);
                return;
            }

            _isCancelled = true;
            body.CancelPendingRead();
        }
    }
}
