using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Json;
using Rookery.Indexing.Language;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Scanning;

/// <summary>The groups that a scan has found. For one thread.</summary>
/// <param name="plan">What to compute.</param>
/// <param name="memory">Is charged for each group.</param>
internal sealed class GroupTable(GroupPlan plan, ScanMemory memory)
{
    /// <summary>Objects, references and a place in the table, of one group.</summary>
    private const int BytesPerGroup = 256;

    private readonly Dictionary<byte[], Group> groups = new(KeyComparer.Instance);
    private readonly ArrayBufferWriter<byte> value = new();
    private readonly PooledBytes identity = new();
    private readonly PooledBytes row = new();

    /// <summary>Adds a document to its group, or each of its entries to theirs.</summary>
    public void Add(in QueriedDocument document, ScanWork work)
    {
        if (plan.Array is null)
        {
            AddEntry(document, default, work);
            return;
        }

        work.Walk(document.Members.Length);
        var entries = new Entries(this, document, work);
        plan.Array.Read(document, ref entries);
    }

    /// <summary>The groups as rows, in the order of their keys: <c>k0</c>, <c>k1</c>…, <c>a0</c>…, <c>key</c>.</summary>
    public IEnumerable<byte[]> Rows()
    {
        byte[][] order = [.. groups.Keys];
        Array.Sort(order, static (one, other) => one.AsSpan().SequenceCompareTo(other));
        foreach (byte[] key in order)
        {
            yield return RowOf(groups[key]);
        }
    }

    /// <summary>Gives pooled memory back.</summary>
    public void Release()
    {
        identity.Release();
        row.Release();
    }

    private void AddEntry(in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work)
    {
        identity.Clear();
        foreach (GroupedField key in plan.Keys)
        {
            WriteKey(key, document, element, work);
            Span<byte> room = identity.Reserve(TermKey.MaxBytes + sizeof(ushort));
            int length = TermKey.Write(value.WrittenSpan, isExact: true, room);

            // Behind the key, so that groups stand in the order of the keys' bytes, and yet no two lists of keys are one.
            BinaryPrimitives.WriteUInt16BigEndian(room[length..], (ushort)length);
            identity.Advance(length + sizeof(ushort));
        }

        if (!groups.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(identity.Written, out Group? group))
        {
            group = AddGroup(document, element, work);
        }

        group.Count++;
        for (int aggregate = 0; aggregate < plan.Aggregates.Length; aggregate++)
        {
            if (plan.Aggregates[aggregate] is ({ } kind, { } field))
            {
                var visitor = new Aggregation(group.Aggregates[aggregate], kind, memory);
                Read(field, document, element, work, ref visitor);
            }
        }
    }

    private Group AddGroup(in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work)
    {
        row.Clear();
        for (int key = 0; key < plan.Keys.Length; key++)
        {
            WriteKey(plan.Keys[key], document, element, work);
            row.Append(key == 0 ? "\"k"u8 : ",\"k"u8);
            row.Append(Encoding.UTF8.GetBytes(key.ToString()));
            row.Append("\":"u8);
            AppendCanonical(value.WrittenSpan);
        }

        memory.Take(BytesPerGroup + identity.Length + row.Length + (plan.Aggregates.Length * Accumulator.Bytes));
        var group = new Group(row.Written.ToArray(), [.. plan.Aggregates.Select(static _ => new Accumulator())]);
        groups.Add(identity.Written.ToArray(), group);
        return group;
    }

    /// <summary>Numbers have one form, so that a group has the same key whichever of its documents came first.</summary>
    private void AppendCanonical(ReadOnlySpan<byte> json)
    {
        if (json[0] is not ((byte)'-' or (>= (byte)'0' and <= (byte)'9')))
        {
            row.Append(json);
            return;
        }

        Span<byte> key = stackalloc byte[NumberKey.MaxBytes];
        row.Advance(NumberKey.WriteJson(key[..NumberKey.Write(json, key)], row.Reserve(NumberKey.MaxJsonBytes)));
    }

    private void WriteKey(GroupedField key, in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work)
    {
        value.ResetWrittenCount();
        if (!key.IsOfElement)
        {
            work.Walk(document.Members.Length);
            key.Writer!.Write(document, value);
        }
        else if (key.Writer is null)
        {
            value.Write(element);
        }
        else if (element[0] == (byte)'{')
        {
            work.Walk(element.Length);
            key.Writer.Write(new QueriedDocument(element[1..^1]), value);
        }
        else
        {
            value.Write("null"u8);
        }
    }

    private static void Read(GroupedField field, in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work, ref Aggregation visitor)
    {
        if (!field.IsOfElement)
        {
            work.Walk(document.Members.Length);
            field.Reader!.Read(document, ref visitor);
        }
        else if (field.Reader is null)
        {
            visitor.Visit(element);
        }
        else if (element[0] == (byte)'{')
        {
            field.Reader.Read(new QueriedDocument(element[1..^1]), ref visitor);
        }
    }

    private byte[] RowOf(Group group)
    {
        row.Clear();
        row.Append(group.Keys);
        for (int aggregate = 0; aggregate < plan.Aggregates.Length; aggregate++)
        {
            row.Append(",\"a"u8);
            row.Append(Encoding.UTF8.GetBytes(aggregate.ToString()));
            row.Append("\":"u8);
            group.Aggregates[aggregate].Append(plan.Aggregates[aggregate].Kind, group.Count, row);
        }

        if (plan.NeedsWholeKey)
        {
            row.Append(",\"key\":"u8);
            AppendWholeKey(group.Keys);
        }

        return row.Written.ToArray();
    }

    private void AppendWholeKey(ReadOnlySpan<byte> keys)
    {
        int at = 0;
        for (int key = 0; StoredJson.TryReadMember(keys, ref at, out _, out int valueStart); key++)
        {
            if (plan.Names.Length > 1)
            {
                value.ResetWrittenCount();
                DocumentWriter.WriteString(value, Encoding.UTF8.GetBytes(plan.Names[key]));
                row.Append(key == 0 ? (byte)'{' : (byte)',');
                row.Append(value.WrittenSpan);
                row.Append((byte)':');
            }

            row.Append(keys[valueStart..at]);
        }

        if (plan.Names.Length > 1)
        {
            row.Append((byte)'}');
        }
    }

    private sealed class Group(byte[] keys, Accumulator[] aggregates)
    {
        public byte[] Keys => keys;

        public Accumulator[] Aggregates => aggregates;

        public long Count { get; set; }
    }

    private readonly ref struct Entries(GroupTable table, QueriedDocument document, ScanWork work) : IValueVisitor
    {
        private readonly QueriedDocument document = document;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            table.AddEntry(document, json, work);
            return true;
        }
    }

    private readonly struct Aggregation(Accumulator accumulator, AggregateKind kind, ScanMemory memory) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            accumulator.Add(kind, json, memory);
            return true;
        }
    }
}
