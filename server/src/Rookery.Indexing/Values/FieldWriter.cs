using System.Buffers;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Indexing.Values;

/// <summary>
/// Writes a field as one JSON value, for projections and group keys. Writes arrays and objects whole. If the path leads
/// through an array, the value is an array of the field's values in its elements. A missing field is null. Thread-safe.
/// </summary>
/// <param name="path">The path.</param>
/// <param name="keepsPlaces">Whether the written array contains null for an element without the field; otherwise the
/// element is omitted.</param>
public sealed class FieldWriter(FieldPath path, bool keepsPlaces = false)
{
    private readonly FieldReader _reader = new(path);

    /// <summary>Writes the value of one document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="output">Receives the value.</param>
    public void Write(in QueriedDocument document, IBufferWriter<byte> output)
    {
        if (!TryWrite(document, output))
        {
            output.Write("null"u8);
        }
    }

    /// <summary>
    /// Returns whether a document has the field. A path through an array always has a value, an empty array if need be,
    /// as with RavenDB.
    /// </summary>
    public bool IsIn(in QueriedDocument document) => TryWrite(document, output: null);

    // Without an output it only tests whether the field exists.
    private bool TryWrite(in QueriedDocument document, IBufferWriter<byte>? output)
    {
        if (!_reader.IsMetadata)
        {
            return TryWriteMember(document.Members, output);
        }

        // Stored members of the metadata are written whole. Computed members (@id) are handled below.
        ReadOnlySpan<byte[]> steps = _reader.Steps;
        if (
            !steps.IsEmpty
            && document.IsStored
            && StoredJson.TryFindMember(document.View.Metadata, FieldReader.BeforeMembers, steps[0], out _, out _)
        )
        {
            return TryWriteMember(document.View.Metadata, output);
        }

        // The names of counters and the attachments are arrays too.
        if (!steps.IsEmpty && document.IsStored && MetadataValues.IsOfParts(document, steps[0]))
        {
            return TryWriteMember(DocumentWriter.ComputedMembers(document.View), output);
        }

        // The visitor stops at the first value, so false means that a value exists.
        var value = new ValueWriter(output);
        return !_reader.Read(document, ref value);
    }

    private bool TryWriteMember(ReadOnlySpan<byte> json, IBufferWriter<byte>? output)
    {
        int container = FieldReader.BeforeMembers;
        ReadOnlySpan<byte[]> steps = _reader.Steps;
        for (
            int step = 0;
            step < steps.Length && StoredJson.TryFindMember(json, container, steps[step], out _, out int at);
            step++
        )
        {
            if (step == steps.Length - 1)
            {
                output?.Write(json[at..StoredJson.SkipValue(json, at)]);
                return true;
            }

            if (TryWritePseudo(json, at, step + 1, output))
            {
                return true;
            }

            if (json[at] == (byte)'[')
            {
                WriteArray(json, at, step + 1, output);
                return true;
            }

            if (json[at] != (byte)'{')
            {
                break;
            }

            container = at;
        }

        return false;
    }

    private bool TryWritePseudo(
        ReadOnlySpan<byte> json,
        int at,
        int step,
        IBufferWriter<byte>? output,
        bool hasPrevious = false
    )
    {
        if (!_reader.HasPseudo(step) || json[at] == (byte)'{')
        {
            return false;
        }

        Span<byte> value = stackalloc byte[PseudoMember.MaxBytes];
        int length = _reader.WritePseudo(json, at, step, value);
        output?.Write(hasPrevious && length > 0 ? ","u8 : default);
        output?.Write(value[..length]);
        return length > 0;
    }

    private void WriteArray(ReadOnlySpan<byte> json, int at, int step, IBufferWriter<byte>? output)
    {
        if (output is not null)
        {
            bool hasPrevious = false;
            output.Write("["u8);
            WriteElement(json, at, step, output, ref hasPrevious);
            output.Write("]"u8);
        }
    }

    /// <summary>
    /// Writes the values below a JSON value, following the path from <paramref name="step"/> on. Flattens arrays,
    /// except for an array whose count is the last step of the path.
    /// </summary>
    private void WriteElement(
        ReadOnlySpan<byte> json,
        int at,
        int step,
        IBufferWriter<byte> output,
        ref bool hasPrevious
    )
    {
        ReadOnlySpan<byte[]> steps = _reader.Steps;
        if ((json[at] is (byte)'"' or (byte)'[') && TryWritePseudo(json, at, step, output, hasPrevious))
        {
            hasPrevious = true;
            return;
        }

        if (json[at] == (byte)'[')
        {
            for (at++; json[at] != (byte)']'; at = StoredJson.SkipValue(json, at))
            {
                at = json[at] == (byte)',' ? at + 1 : at;
                WriteElement(json, at, step, output, ref hasPrevious);
            }

            return;
        }

        if (
            step < steps.Length
            && json[at] == (byte)'{'
            && StoredJson.TryFindMember(json, at, steps[step], out _, out int member)
        )
        {
            WriteElement(json, member, step + 1, output, ref hasPrevious);
        }
        else if (step == steps.Length || keepsPlaces)
        {
            output.Write(hasPrevious ? ","u8 : ""u8);
            output.Write(step == steps.Length ? json[at..StoredJson.SkipValue(json, at)] : "null"u8);
            hasPrevious = true;
        }
    }

    /// <summary>Writes one value.</summary>
    private readonly struct ValueWriter(IBufferWriter<byte>? output) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            output?.Write(json);
            return false;
        }
    }
}
