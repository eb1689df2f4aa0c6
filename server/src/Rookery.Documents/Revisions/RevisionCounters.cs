using System.Buffers.Binary;
using System.Buffers.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Revisions;

/// <summary>
/// The values of a document's counters when a revision was created, 8 bytes each, in the order of their names.
/// </summary>
internal static class RevisionCounters
{
    /// <summary>Appends the current values.</summary>
    /// <param name="output">Receives them.</param>
    /// <param name="context">The command.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="stored">What the document is to store about its counters.</param>
    public static void Append(
        PooledBytes output,
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        ReadOnlySpan<byte> stored
    )
    {
        if (stored.IsEmpty)
        {
            return;
        }

        var counters = new DocumentCounters(stored);
        var names = new CounterNames(counters.Names);
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        Span<byte> lowerName = stackalloc byte[Ids.CounterName.MaxBytes];
        while (names.MoveNext())
        {
            var row = Key.WriteCounter(key, context.Database.Number, lowerId, lowerName[..names.WriteLower(lowerName)]);
            context.TryReadCounter(row, counters.Since, out long value);
            BinaryPrimitives.WriteInt64LittleEndian(output.Reserve(sizeof(long)), value);
            output.Advance(sizeof(long));
        }
    }

    /// <summary>Stores counters with the values that they had in a revision.</summary>
    /// <param name="context">The command.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="counterNames">Their names.</param>
    /// <param name="values">Their values.</param>
    public static void Restore(
        ApplyContext context,
        ReadOnlySpan<byte> lowerId,
        ReadOnlySpan<byte> counterNames,
        ReadOnlySpan<byte> values
    )
    {
        var names = new CounterNames(counterNames);
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        Span<byte> lowerName = stackalloc byte[Ids.CounterName.MaxBytes];
        Span<byte> row = stackalloc byte[CounterValue.Bytes];
        while (names.MoveNext())
        {
            long value = values.Length < sizeof(long) ? 0 : BinaryPrimitives.ReadInt64LittleEndian(values);
            values = values.Length < sizeof(long) ? default : values[sizeof(long)..];
            CounterValue.Write(row, value);
            context.Batch.Put(
                Key.WriteCounter(key, context.Database.Number, lowerId, lowerName[..names.WriteLower(lowerName)]),
                context.Etag,
                row
            );
        }
    }

    /// <summary>
    /// Writes <c>"@counters-snapshot":{NAME:VALUE,…},</c>, or nothing without counters, and returns its length.
    /// </summary>
    public static int WriteJson(Span<byte> destination, ReadOnlySpan<byte> counterNames, ReadOnlySpan<byte> values)
    {
        if (counterNames.IsEmpty || values.IsEmpty)
        {
            return 0;
        }

        int at = Copy(destination, 0, "\"@counters-snapshot\":{"u8);
        var names = new CounterNames(counterNames);
        for (bool isFirst = true; names.MoveNext(); isFirst = false)
        {
            at = Copy(destination, at, isFirst ? "\""u8 : ",\""u8);
            at += JsonText.Escape(names.Name, destination[at..]);
            at = Copy(destination, at, "\":"u8);
            long value = values.IsEmpty ? 0 : BinaryPrimitives.ReadInt64LittleEndian(values);
            values = values.IsEmpty ? values : values[sizeof(long)..];
            Utf8Formatter.TryFormat(value, destination[at..], out int digits);
            at += digits;
        }

        return Copy(destination, at, "},"u8);
    }

    private static int Copy(Span<byte> destination, int at, ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(destination[at..]);
        return at + bytes.Length;
    }
}
