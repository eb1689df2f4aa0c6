namespace Rookery.Documents.Json;

/// <summary>
/// Reads newline-delimited documents, fed in arbitrary chunks. A bad line is an <see cref="StreamRead.Error"/> with its number, and reading goes on behind it.
/// </summary>
public sealed class NdjsonReader : IDisposable
{
    /// <summary>A reader at the beginning of a stream.</summary>
    public NdjsonReader() => throw new NotSupportedException();

    /// <summary>The number of the line last read, from 1.</summary>
    public long Line { get; }

    /// <summary>Gives the reader its next bytes; they must stay unchanged until it has answered <see cref="StreamRead.NeedMore"/>.</summary>
    public void Feed(ReadOnlyMemory<byte> chunk) => throw new NotSupportedException();

    /// <summary>Says that no further bytes come, so that a last line without newline is read.</summary>
    public void Complete() => throw new NotSupportedException();

    /// <summary>Reads the next line that is not blank. <see cref="StreamRead.End"/> only after <see cref="Complete"/>.</summary>
    /// <param name="document">The document, its id in <see cref="ParsedDocument.MetadataId"/>; valid until the next call.</param>
    /// <param name="error">Set with <see cref="StreamRead.Error"/>.</param>
    public StreamRead Read(out ParsedDocument document, out InputError error) => throw new NotSupportedException();

    /// <summary>Gives the buffers back.</summary>
    public void Dispose() => throw new NotSupportedException();
}
