namespace Rookery.Search.Segments.Format;

/// <summary>
/// Bytes of an index are not what was written, or no program of this version wrote them. Nothing of a user's is lost:
/// the caller drops the index's folder and builds it anew.
/// </summary>
/// <param name="file">The file's path.</param>
/// <param name="reason">What is wrong.</param>
public sealed class SegmentDamagedException(string file, string reason)
    : IOException($"{file} is damaged: {reason}; the index is built anew.")
{
    /// <summary>The file's path.</summary>
    public string File { get; } = file;
}
