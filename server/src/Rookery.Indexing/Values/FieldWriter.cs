using System.Buffers;
using Rookery.Documents.Json;
using Rookery.Indexing.Language;

namespace Rookery.Indexing.Values;

/// <summary>
/// Writes what stands at a path as one JSON value, as projections and group keys need it: the value itself, arrays and objects whole; where the path leads through an array, an array of what stands
/// there in its elements; null where nothing stands. Thread-safe.
/// </summary>
/// <param name="path">The path.</param>
public sealed class FieldWriter(FieldPath path)
{
    private readonly FieldReader reader = new(path);

    /// <summary>Writes the value of one document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="output">Where to.</param>
    public void Write(in QueriedDocument document, IBufferWriter<byte> output)
    {
        if (!reader.IsMetadata)
        {
            WriteMember(document.Members, output);
            return;
        }

        ReadOnlySpan<byte[]> steps = reader.Steps;
        if (!steps.IsEmpty && document.IsStored && StoredJson.TryFindMember(document.View.Metadata, FieldReader.BeforeMembers, steps[0], out _, out _))
        {
            WriteMember(document.View.Metadata, output);
            return;
        }

        var value = new ValueWriter(output);
        if (reader.Read(document, ref value))
        {
            output.Write("null"u8);
        }
    }

    private void WriteMember(ReadOnlySpan<byte> json, IBufferWriter<byte> output)
    {
        int container = FieldReader.BeforeMembers;
        ReadOnlySpan<byte[]> steps = reader.Steps;
        for (int step = 0; step < steps.Length && StoredJson.TryFindMember(json, container, steps[step], out _, out int at); step++)
        {
            if (step == steps.Length - 1)
            {
                output.Write(json[at..StoredJson.SkipValue(json, at)]);
                return;
            }

            if (json[at] == (byte)'[')
            {
                var elements = new ElementWriter(output);
                output.Write("["u8);
                reader.ReadFrom(json, at, step + 1, ref elements);
                output.Write("]"u8);
                return;
            }

            if (json[at] != (byte)'{')
            {
                break;
            }

            container = at;
        }

        output.Write("null"u8);
    }

    /// <summary>Writes values with commas between them.</summary>
    private struct ElementWriter(IBufferWriter<byte> output) : IValueVisitor
    {
        private bool isBehind;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (isBehind)
            {
                output.Write(","u8);
            }

            isBehind = true;
            output.Write(json);
            return true;
        }
    }

    /// <summary>Writes one value.</summary>
    private readonly struct ValueWriter(IBufferWriter<byte> output) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            output.Write(json);
            return false;
        }
    }
}
