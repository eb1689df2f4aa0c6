using System.Text.Json;
using System.Text.Json.Serialization;
using Rookery.Journal;

namespace Rookery.Documents.Transfer;

/// <summary>
/// The description of a snapshot, or of the changes since an earlier one, whose files members can fetch until the offer
/// is withdrawn.
/// </summary>
public sealed record SnapshotOffer
{
    /// <summary>Random id of the offer.</summary>
    public required string Id { get; init; }

    /// <summary>The snapshot's last index.</summary>
    public required long Index { get; init; }

    /// <summary>Term of the entry at <see cref="Index"/>.</summary>
    public required long Term { get; init; }

    /// <summary>
    /// Current term of the offering member: all entries in the snapshot were committed in that term or earlier. Set
    /// when the offer is sent.
    /// </summary>
    public long CommittedBy { get; init; }

    /// <summary>Number of operations (etags) through <see cref="Index"/>.</summary>
    public required long Operations { get; init; }

    /// <summary>Index of the configuration in force at <see cref="Index"/>; 0 if there is none.</summary>
    public required long ConfigurationIndex { get; init; }

    /// <summary>The configuration in force, as the journal contains it; empty if there is none.</summary>
    public required byte[] Configuration { get; init; }

    /// <summary>The files.</summary>
    public required IReadOnlyList<StateFile> Files { get; init; }

    /// <summary>
    /// Null for a full snapshot. Otherwise the offer contains only rows and deletions from this etag on.
    /// </summary>
    public long? Since { get; init; }

    /// <summary>For changes: length of a full snapshot, for comparison.</summary>
    public long WholeBytes { get; init; }

    /// <summary>
    /// Why the offer is a full snapshot although changes were requested, as a clause to follow "because"; null if there
    /// is no reason.
    /// </summary>
    public string? Why { get; init; }

    /// <summary>The snapshot's position in the log.</summary>
    [JsonIgnore]
    public JournalPosition Position => new(Index, Term, Operations);

    /// <summary>Total length of the files.</summary>
    [JsonIgnore]
    public long Bytes => Files.Sum(file => file.Bytes);

    /// <summary>Encodes the offer as JSON.</summary>
    public byte[] Encode() => JsonSerializer.SerializeToUtf8Bytes(this, SnapshotOfferJson.Default.SnapshotOffer);

    /// <summary>Decodes the output of <see cref="Encode"/>.</summary>
    /// <exception cref="StateTransferException">The bytes are not an offer.</exception>
    public static SnapshotOffer Decode(ReadOnlySpan<byte> json)
    {
        try
        {
            var offer = JsonSerializer.Deserialize(json, SnapshotOfferJson.Default.SnapshotOffer);
            return
                offer is not null
                && offer.Files.All(static file => file.IsPlausible)
                && offer.Files.DistinctBy(static file => file.Name, StringComparer.Ordinal).Count() == offer.Files.Count
                ? offer
                : throw new StateTransferException("The offer of a state names files that no state has.");
        }
        catch (JsonException malformed)
        {
            throw new StateTransferException($"The offer of a state cannot be read: {malformed.Message}");
        }
    }
}

/// <summary>
/// A file of an offer. The offer carries no checksums: all bytes of the file are covered by checksums within it, and a
/// run's checksums include the run's id.
/// </summary>
/// <param name="Name">Name of the file: digits, letters, dots and dashes.</param>
/// <param name="Bytes">Length of the file.</param>
public sealed record StateFile(string Name, long Bytes)
{
    /// <summary>Whether the name is valid: it comes from a connection and must not point outside a directory.</summary>
    [JsonIgnore]
    internal bool IsPlausible => Bytes >= 0 && IsName(Name);

    internal static bool IsName(string? name) =>
        name is { Length: > 0 and <= 64 }
        && char.IsAsciiLetterOrDigit(name[0])
        && name.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '-' or '.');
}

/// <summary>
/// Thrown if a snapshot could not be offered, fetched or installed. Nothing changed. The message states the reason.
/// </summary>
/// <param name="message">One sentence.</param>
/// <param name="cause">The exception that caused it.</param>
public sealed class StateTransferException(string message, Exception? cause = null) : IOException(message, cause);

/// <summary>JSON serialisation of offers.</summary>
[JsonSerializable(typeof(SnapshotOffer))]
internal sealed partial class SnapshotOfferJson : JsonSerializerContext;
