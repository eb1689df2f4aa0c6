using Rookery.Platform;
using Rookery.Server.Alerts;

namespace Rookery.Server.Observation;

/// <summary>
/// The samples of a member or of this node: figures of 24 hours, slow events, and the last answer. They are kept if the
/// member fails. Thread-safe.
/// </summary>
/// <param name="tag">Tag of the node.</param>
/// <param name="memory">Memory of the history.</param>
/// <param name="time">The clock.</param>
internal sealed class ObservedNode(string tag, MemoryShare memory, TimeProvider time)
{
    // Answers arrive every ten seconds, or every second while a browser shows the dashboard. After these times without
    // an answer the member counts as not answering.
    private static readonly TimeSpan SilenceUnwatched = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan SilenceWatched = TimeSpan.FromSeconds(4);

    private readonly Lock _gate = new();
    private MemberAnswer? _lastAnswer;
    private long _answeredAt;
    private bool _hasFailed;

    /// <summary>Tag of the node.</summary>
    public string Tag => tag;

    /// <summary>The node's figures over time.</summary>
    public SampleHistory History { get; } = new(memory);

    /// <summary>The slow disk events that the node reported.</summary>
    public SlowEvents Slow { get; } = new(memory);

    /// <summary>The node's last answer; null before the first.</summary>
    public MemberAnswer? LastAnswer
    {
        get
        {
            lock (_gate)
            {
                return _lastAnswer;
            }
        }
    }

    /// <summary>Seconds since the node's last answer; null before the first.</summary>
    public double? SeenSeconds
    {
        get
        {
            lock (_gate)
            {
                return _lastAnswer is null ? null : time.GetElapsedTime(_answeredAt).TotalSeconds;
            }
        }
    }

    /// <summary>Records an answer.</summary>
    public void RecordAnswer(MemberAnswer answer)
    {
        lock (_gate)
        {
            (_lastAnswer, _answeredAt, _hasFailed) = (answer, time.GetTimestamp(), false);
        }
    }

    /// <summary>Records that a request failed.</summary>
    public void RecordFailure()
    {
        lock (_gate)
        {
            _hasFailed = true;
        }
    }

    /// <summary>Whether the node answers requests of this node; null before the first request has ended.</summary>
    /// <param name="watchedFor">How long the node has been polled every second.</param>
    public bool? IsAnswering(TimeSpan watchedFor)
    {
        lock (_gate)
        {
            if (_hasFailed)
            {
                return false;
            }

            if (_lastAnswer is null)
            {
                return null;
            }

            return time.GetElapsedTime(_answeredAt)
                < (watchedFor >= SilenceWatched ? SilenceWatched : SilenceUnwatched);
        }
    }
}

/// <summary>The last answer of a member.</summary>
/// <param name="Sample">The member's sample in JSON, unchanged: a newer version may report more than this node
/// knows.</param>
/// <param name="Reason">Why the member does not serve documents; null if it does.</param>
/// <param name="View">Its view of the cluster; null while its data are not open.</param>
/// <param name="Alerts">Its active alerts.</param>
/// <param name="Uptime">How long its process has run; null if it does not report it.</param>
internal sealed record MemberAnswer(
    byte[] Sample,
    string? Reason,
    ClusterReport? View,
    IReadOnlyList<MemberAlert> Alerts,
    TimeSpan? Uptime
);
