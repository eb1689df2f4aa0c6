using System.Text;
using Rookery.Documents.Apply;
using Rookery.Platform;

namespace Rookery.Documents.Revisions;

/// <summary>
/// The configuration of a database's revisions: a rule for each named collection, and one for all others. Encoded as
/// <c>[format u8][u8: 1 with a default][rule of the default]([length varint][collection][rule])*</c>, ordered by
/// lower-cased collection.
/// </summary>
public sealed class RevisionsConfiguration
{
    /// <summary>Maximum number of collections with their own rule.</summary>
    public const int MaxCollections = 1024;

    private const byte Format = 1;

    private readonly Dictionary<byte[], RevisionRule> _byLowerName = new(BytesComparer.Instance);
    private readonly Dictionary<byte[], RevisionRule>.AlternateLookup<ReadOnlySpan<byte>> _lookup;

    /// <summary>Creates a configuration.</summary>
    /// <param name="defaultRule">The rule of collections without their own; null for none.</param>
    /// <param name="collections">Rules by the name of a collection. Names that differ only in the case of ASCII letters
    /// are the same: the last one counts.</param>
    public RevisionsConfiguration(
        RevisionRule? defaultRule,
        IEnumerable<(string Collection, RevisionRule Rule)> collections
    )
    {
        _lookup = _byLowerName.GetAlternateLookup<ReadOnlySpan<byte>>();
        Default = defaultRule;
        var byName = new SortedDictionary<byte[], (string Collection, RevisionRule Rule)>(
            Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right))
        );
        foreach (var (collection, rule) in collections)
        {
            byte[] name = Encoding.UTF8.GetBytes(collection);
            byte[] lower = new byte[Math.Max(name.Length, Key.EmptyCollection.Length)];
            lower = lower[..Key.LowerCollection(name, lower)];
            byName[lower] = (collection, rule);
            _byLowerName[lower] = rule;
        }

        Collections = [.. byName.Values];
    }

    /// <summary>The rule of collections without their own; null for none.</summary>
    public RevisionRule? Default { get; }

    /// <summary>Rules by the name of a collection, ordered by lower-cased name.</summary>
    public IReadOnlyList<(string Collection, RevisionRule Rule)> Collections { get; }

    /// <summary>Whether there is no rule.</summary>
    public bool IsEmpty => Default is null && Collections.Count == 0;

    // Documents that the server itself rewrites often.
    private static ReadOnlySpan<byte> HiloCollection => "@hilo"u8;

    /// <summary>Returns the rule of a collection; null if it has none.</summary>
    /// <param name="collection">Its name, in any casing; empty for documents without a collection.</param>
    public RevisionRule? Find(ReadOnlySpan<byte> collection)
    {
        Span<byte> lower = stackalloc byte[Key.MaxBytes];
        lower = lower[..Key.LowerCollection(collection, lower)];
        if (_lookup.TryGetValue(lower, out var rule))
        {
            return rule;
        }

        return lower.SequenceEqual(HiloCollection) ? null : Default;
    }

    /// <summary>Encodes the configuration.</summary>
    public byte[] Encode()
    {
        var bytes = new List<byte> { Format, Default is null ? (byte)0 : (byte)1 };
        byte[] rule = new byte[RevisionRule.MaxBytes];
        if (Default is not null)
        {
            bytes.AddRange(rule.AsSpan(0, Default.Write(rule)));
        }

        foreach (var (collection, ofCollection) in Collections)
        {
            byte[] name = Encoding.UTF8.GetBytes(collection);
            byte[] prefixed = new byte[Varint.MaxBytes32 + name.Length];
            bytes.AddRange(prefixed.AsSpan(0, Varint.WriteBytes(prefixed, name)));
            bytes.AddRange(rule.AsSpan(0, ofCollection.Write(rule)));
        }

        return [.. bytes];
    }

    /// <summary>Decodes a configuration.</summary>
    /// <exception cref="RowFormatException">The bytes are none, or a newer version wrote them.</exception>
    public static RevisionsConfiguration Decode(ReadOnlySpan<byte> bytes)
    {
        FormatGuard.Expect(bytes.Length >= 2 && bytes[0] == Format && bytes[1] <= 1, "revisions configuration");
        int at = 2;
        RevisionRule? defaultRule = null;
        if (bytes[1] == 1)
        {
            defaultRule = RevisionRule.TryRead(bytes, ref at);
            FormatGuard.Expect(defaultRule is not null, "revisions configuration");
        }

        var collections = new List<(string, RevisionRule)>();
        while (at < bytes.Length)
        {
            RevisionRule? rule = null;
            if (Varint.TryReadBytes(bytes, ref at, out var name))
            {
                rule = RevisionRule.TryRead(bytes, ref at);
            }

            FormatGuard.Expect(rule is not null, "revisions configuration");
            collections.Add((Encoding.UTF8.GetString(name), rule));
        }

        return new RevisionsConfiguration(defaultRule, collections);
    }
}
