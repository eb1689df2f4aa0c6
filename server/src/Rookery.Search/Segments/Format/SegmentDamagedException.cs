namespace Rookery.Search.Segments.Format;

/// <summary>
/// Thrown if bytes of an index are damaged or of another format version. No user data is lost. The caller deletes the
/// index's folder and builds the index again.
/// </summary>
/// <param name="file">The file's path.</param>
/// <param name="reason">What is wrong, as a clause.</param>
public sealed class SegmentDamagedException(string file, string reason)
    : IOException($"{file} cannot be read: {reason}; the index is built again from the documents.")
{
    /// <summary>The file's path.</summary>
    public string File { get; } = file;
}
