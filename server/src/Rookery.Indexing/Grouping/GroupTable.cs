using System.Buffers;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// Groups documents, or elements of their arrays, by keys and computes the aggregates of each group. Not thread-safe.
/// </summary>
/// <param name="plan">The groups and aggregates to compute.</param>
/// <param name="memory">Reserves memory for each group; null if <paramref name="maxGroups"/> bounds the memory.</param>
/// <param name="maxGroups">Maximum number of groups. One more sets <see cref="IsOverfull"/>.</param>
public sealed class GroupTable(GroupPlan plan, IGroupMemory? memory, int maxGroups = int.MaxValue)
{
    /// <summary>Estimated memory of a group in addition to its bytes: objects, references and a table slot.</summary>
    private const int BytesPerGroup = 256;

    private readonly Dictionary<byte[], FoundGroup> _groups = new(BytesComparer.Instance);
    private readonly ArrayBufferWriter<byte> _value = new();
    private readonly PooledBytes _canonical = new();
    private readonly PooledBytes _identity = new();
    private readonly PooledBytes _row = new();

    /// <summary>The groups, by their keys encoded as bytes (see <see cref="GroupIdentity"/>); unordered.</summary>
    public IEnumerable<KeyValuePair<byte[], FoundGroup>> Groups => _groups;

    /// <summary>Whether the table is incomplete because there were too many groups.</summary>
    public bool IsOverfull { get; private set; }

    /// <summary>Removes all groups.</summary>
    public void Clear()
    {
        _groups.Clear();
        IsOverfull = false;
    }

    /// <summary>Adds a document, or each element of its array, to its group.</summary>
    public void Add(in QueriedDocument document, ScanWork work)
    {
        if (plan.Array is null)
        {
            AddEntry(document, element: default, work);
            return;
        }

        work.CountBytes(document.Members.Length);
        var entries = new ElementVisitor(this, document, work);
        plan.Array.Read(document, ref entries);
    }

    /// <summary>
    /// Returns the groups as rows, ordered by their keys, with the members <c>k0</c>, <c>k1</c>…, <c>a0</c>…, and, if
    /// <see cref="GroupPlan.NeedsWholeKey"/>, <c>key</c>.
    /// </summary>
    public IEnumerable<byte[]> Rows()
    {
        byte[][] order = [.. _groups.Keys];
        Array.Sort(order, static (one, other) => one.AsSpan().SequenceCompareTo(other));
        foreach (byte[] key in order)
        {
            yield return RowOf(_groups[key]);
        }
    }

    /// <summary>Releases pooled memory.</summary>
    public void Release()
    {
        _canonical.Release();
        _identity.Release();
        _row.Release();
    }

    private void AddEntry(in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work)
    {
        _identity.Clear();
        foreach (GroupedField key in plan.Keys)
        {
            GroupIdentity.Append(ReadKey(key, document, element, work), _identity);
        }

        if (!_groups.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(_identity.Written, out FoundGroup? group))
        {
            if (_groups.Count == maxGroups)
            {
                IsOverfull = true;
                return;
            }

            group = AddGroup(document, element, work);
        }

        group.Count++;
        for (int aggregate = 0; aggregate < plan.Aggregates.Length; aggregate++)
        {
            if (plan.Aggregates[aggregate] is ({ } kind, { } field))
            {
                var visitor = new AggregateVisitor(group.Aggregates[aggregate], kind, memory);
                Read(field, document, element, work, ref visitor);
            }
        }
    }

    private FoundGroup AddGroup(in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work)
    {
        _row.Clear();
        for (int key = 0; key < plan.Keys.Length; key++)
        {
            // Keys are written in canonical form, so they do not depend on which document came first.
            GroupRow.AppendName((byte)'k', key, _row);
            CanonicalJson.Append(ReadKey(plan.Keys[key], document, element, work), _row);
        }

        memory?.Reserve(BytesPerGroup + _identity.Length + _row.Length + (plan.Aggregates.Length * Accumulator.Bytes));
        var group = new FoundGroup(_row.Written.ToArray(), [.. plan.Aggregates.Select(static _ => new Accumulator())]);
        _groups.Add(_identity.Written.ToArray(), group);
        return group;
    }

    /// <summary>Reads a key. Arrays and objects are read in canonical form, so equal values have equal bytes.</summary>
    private ReadOnlySpan<byte> ReadKey(
        GroupedField key,
        in QueriedDocument document,
        ReadOnlySpan<byte> element,
        ScanWork work
    )
    {
        WriteKey(key, document, element, work);
        if (_value.WrittenSpan[0] is not ((byte)'[' or (byte)'{'))
        {
            return _value.WrittenSpan;
        }

        work.CountBytes(_value.WrittenCount);
        _canonical.Clear();
        CanonicalJson.Append(_value.WrittenSpan, _canonical);
        return _canonical.Written;
    }

    private void WriteKey(GroupedField key, in QueriedDocument document, ReadOnlySpan<byte> element, ScanWork work)
    {
        _value.ResetWrittenCount();
        if (!key.IsOfElement)
        {
            work.CountBytes(document.Members.Length);
            key.Writer!.Write(document, _value);
        }
        else if (key.Writer is null)
        {
            _value.Write(element);
        }
        else if (element[0] == (byte)'{')
        {
            work.CountBytes(element.Length);
            key.Writer.Write(new QueriedDocument(element[1..^1]), _value);
        }
        else
        {
            _value.Write("null"u8);
        }
    }

    private static void Read(
        GroupedField field,
        in QueriedDocument document,
        ReadOnlySpan<byte> element,
        ScanWork work,
        ref AggregateVisitor visitor
    )
    {
        if (!field.IsOfElement)
        {
            work.CountBytes(document.Members.Length);
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

    private byte[] RowOf(FoundGroup group)
    {
        _row.Clear();
        _row.Append(group.Keys);
        for (int aggregate = 0; aggregate < plan.Aggregates.Length; aggregate++)
        {
            GroupRow.AppendName((byte)'a', aggregate, _row);
            group.Aggregates[aggregate].Append(plan.Aggregates[aggregate].Kind, group.Count, _row);
        }

        if (plan.NeedsWholeKey)
        {
            GroupRow.AppendWholeKey(group.Keys, plan.Names, _row);
        }

        return _row.Written.ToArray();
    }

    private readonly ref struct ElementVisitor(GroupTable table, QueriedDocument document, ScanWork work)
        : IValueVisitor
    {
        private readonly QueriedDocument _document = document;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            table.AddEntry(_document, json, work);
            return !table.IsOverfull;
        }
    }

    private readonly struct AggregateVisitor(Accumulator accumulator, AggregateKind kind, IGroupMemory? memory)
        : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            accumulator.Add(kind, json, memory);
            return true;
        }
    }
}

/// <summary>A group with its aggregates.</summary>
/// <param name="keys">The members <c>k0</c>, <c>k1</c>… of the group's row.</param>
/// <param name="aggregates">The aggregates of the group, in the order of the plan.</param>
public sealed class FoundGroup(byte[] keys, Accumulator[] aggregates)
{
    /// <summary>The members <c>k0</c>, <c>k1</c>… of the group's row.</summary>
    public byte[] Keys => keys;

    /// <summary>The aggregates of the group, in the order of the plan.</summary>
    public Accumulator[] Aggregates => aggregates;

    /// <summary>Number of entries in the group.</summary>
    public long Count { get; set; }
}
