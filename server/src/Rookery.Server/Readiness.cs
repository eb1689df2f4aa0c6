namespace Rookery.Server;

/// <summary>
/// Whether this node serves documents. It starts as "opening"; becomes ready; and ends as stopping or as failed with one sentence (diagnosis mode, in which
/// everything but /livez, /readyz, /metrics, /debug and /help answers 503 with that sentence). Any thread may ask or tell.
/// </summary>
public sealed class Readiness
{
    private volatile string? reason = "The node is opening its data.";

    /// <summary>Whether documents are served.</summary>
    public bool IsReady => reason is null;

    /// <summary>Why not, in one sentence; null when ready.</summary>
    public string? Reason => reason;

    /// <summary>Documents are served from now on.</summary>
    public void BecomeReady() => reason = null;

    /// <summary>Documents are not served from now on, because of <paramref name="sentence"/>.</summary>
    public void Refuse(string sentence) => reason = sentence;
}
