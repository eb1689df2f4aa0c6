namespace Rookery.Server.FastPath;

/// <summary>
/// Decides which queries the fast path tries, from its attempts of the last second. It does not try a query text that
/// it had to leave to the full pipeline. It tries no query at all while it leaves more queries to the full pipeline
/// than it answers. Thread-safe.
/// </summary>
internal sealed class QueryAttempts(TimeProvider time)
{
    private const int SlotCount = 256;

    // This number of attempts may fail each second even if no attempt succeeds.
    private const int FreeFailures = 16;

    private static readonly TimeSpan WindowLength = TimeSpan.FromSeconds(1);

    // Each slot holds the text that failed last; a text's hash determines its slot.
    private readonly FailedText?[] _slots = new FailedText?[SlotCount];
    private Window _window = new(time.GetTimestamp());

    /// <summary>Returns whether to try a query with this text.</summary>
    public bool MayTry(string text)
    {
        var window = Volatile.Read(ref _window);
        bool leavesMost = window.Failures > window.Successes + FreeFailures;
        bool hasFailed =
            Volatile.Read(ref SlotOf(text)) is { } failed
            && string.Equals(failed.Text, text, StringComparison.Ordinal)
            && IsRecent(failed.FailedAt);
        return !hasFailed && (!leavesMost || !IsRecent(window.Start));
    }

    /// <summary>Records that the fast path answered a query.</summary>
    public void AddSuccess() => Interlocked.Increment(ref CurrentWindow().Successes);

    /// <summary>Records that the fast path left a query with this text to the full pipeline.</summary>
    public void AddFailure(string text)
    {
        Interlocked.Increment(ref CurrentWindow().Failures);
        Volatile.Write(ref SlotOf(text), new FailedText(text, time.GetTimestamp()));
    }

    private Window CurrentWindow()
    {
        var window = Volatile.Read(ref _window);
        if (IsRecent(window.Start))
        {
            return window;
        }

        // Another thread may replace the window too; the counts of one of the two are lost, which is harmless.
        window = new Window(time.GetTimestamp());
        Volatile.Write(ref _window, window);
        return window;
    }

    private bool IsRecent(long timestamp) => time.GetElapsedTime(timestamp) < WindowLength;

    private ref FailedText? SlotOf(string text) =>
        ref _slots[(uint)text.GetHashCode(StringComparison.Ordinal) % SlotCount];

    private sealed record FailedText(string Text, long FailedAt);

    private sealed class Window(long start)
    {
        public int Successes;
        public int Failures;

        public long Start => start;
    }
}
