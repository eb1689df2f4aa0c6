using System.IO.Pipelines;

namespace Rookery.Server.Raven;

/// <summary>
/// The bodies that hold leased memory (see <see cref="LargeRequests"/>) while the node waits for their next bytes. When
/// other requests wait for memory, bodies that arrive slower than <see cref="BytesPerSecond"/> lose their lease, but
/// none before <see cref="MaxDelay"/>. Thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
internal sealed class SlowBodies(TimeProvider time)
{
    /// <summary>Rate at which the largest document arrives within <see cref="LargeRequests.Deadline"/>.</summary>
    public const int BytesPerSecond = 16 << 10;

    /// <summary>How far a body may fall behind that rate.</summary>
    public static readonly TimeSpan MaxDelay = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly Dictionary<LargeRequests.Lease, long> _waitingSince = [];

    /// <summary>Reads from a body.</summary>
    public ValueTask<ReadResult> ReadAsync(LargeRequests.Lease lease, PipeReader body, CancellationToken cancellation)
    {
        var reading = body.ReadAsync(cancellation);
        return reading.IsCompleted || lease.Bytes == 0 ? reading : WaitAsync(lease, reading);
    }

    /// <summary>Ends the bodies that are too slow.</summary>
    public void EndSlow()
    {
        LargeRequests.Lease[] slow;
        lock (_gate)
        {
            slow =
            [
                .. _waitingSince
                    .Where(body => time.GetElapsedTime(body.Value) >= body.Key.Credit)
                    .Select(static body => body.Key),
            ];
        }

        // Not under the lock, because each read that ends here takes it. So the last bytes of a body may have come
        // meanwhile.
        foreach (var lease in slow)
        {
            lease.EndReading();
        }
    }

    private async ValueTask<ReadResult> WaitAsync(LargeRequests.Lease lease, ValueTask<ReadResult> reading)
    {
        long since = time.GetTimestamp();
        lock (_gate)
        {
            _waitingSince[lease] = since;
        }

        long bytes = 0;
        try
        {
            var read = await reading;
            bytes = read.Buffer.Length;
            return read;
        }
        finally
        {
            lock (_gate)
            {
                _waitingSince.Remove(lease);
            }

            var credit =
                lease.Credit - time.GetElapsedTime(since) + TimeSpan.FromSeconds((double)bytes / BytesPerSecond);
            lease.Credit = credit > MaxDelay ? MaxDelay : credit;
        }
    }
}
