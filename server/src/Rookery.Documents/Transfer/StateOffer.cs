using System.Text.Json;
using System.Text.Json.Serialization;
using Rookery.Journal;

namespace Rookery.Documents.Transfer;

/// <summary>
/// The state of a whole node at one place of the log, or what changed of it, as files that can be fetched until the
/// offer is given up.
/// </summary>
public sealed record StateOffer
{
    /// <summary>Names the offer; never used again.</summary>
    public required string Id { get; init; }

    /// <summary>The last index in it.</summary>
    public required long Index { get; init; }

    /// <summary>The term at that index.</summary>
    public required long Term { get; init; }

    /// <summary>
    /// The term that the member was in which offers it: what is in it was committed in that term or before. Set when it
    /// is given away.
    /// </summary>
    public long CommittedBy { get; init; }

    /// <summary>Operations (etags) through that index.</summary>
    public required long Operations { get; init; }

    /// <summary>The index of the configuration in force there; 0 when there is none.</summary>
    public required long ConfigurationIndex { get; init; }

    /// <summary>That configuration as the journal has it; empty when there is none.</summary>
    public required byte[] Configuration { get; init; }

    /// <summary>The files.</summary>
    public required IReadOnlyList<StateFile> Files { get; init; }

    /// <summary>Null for everything; otherwise it holds what was written and deleted at this etag and above.</summary>
    public long? Since { get; init; }

    /// <summary>When it holds what changed: bytes of everything, to compare.</summary>
    public long WholeBytes { get; init; }

    /// <summary>Why it is everything, though less was asked for; part of a sentence.</summary>
    public string? Why { get; init; }

    /// <summary>Where it stands in the log.</summary>
    [JsonIgnore]
    public JournalPosition Position => new(Index, Term, Operations);

    /// <summary>Bytes of all files.</summary>
    [JsonIgnore]
    public long Bytes => Files.Sum(file => file.Bytes);

    /// <summary>The offer as JSON.</summary>
    public byte[] Encode() => JsonSerializer.SerializeToUtf8Bytes(this, StateOfferJson.Default.StateOffer);

    /// <summary>Reads what <see cref="Encode"/> wrote.</summary>
    /// <exception cref="StateTransferException">It is not an offer.</exception>
    public static StateOffer Decode(ReadOnlySpan<byte> json)
    {
        try
        {
            var offer = JsonSerializer.Deserialize(json, StateOfferJson.Default.StateOffer);
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
/// A file of an offer. Every byte of it is covered by checksums within it, and a run's checksums name the run, so none
/// is sent along.
/// </summary>
/// <param name="Name">Its name: digits, letters, dots and dashes.</param>
/// <param name="Bytes">Its length.</param>
public sealed record StateFile(string Name, long Bytes)
{
    /// <summary>Whether it may be one: the name comes from a connection and must not lead out of a directory.</summary>
    [JsonIgnore]
    internal bool IsPlausible => Bytes >= 0 && IsName(Name);

    internal static bool IsName(string? name) =>
        name is { Length: > 0 and <= 64 }
        && char.IsAsciiLetterOrDigit(name[0])
        && name.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '-' or '.');
}

/// <summary>A state could not be offered, fetched or installed. Nothing changed; the message says why.</summary>
/// <param name="message">One sentence.</param>
/// <param name="cause">What came before it.</param>
public sealed class StateTransferException(string message, Exception? cause = null) : IOException(message, cause);

/// <summary>The offer as it travels.</summary>
[JsonSerializable(typeof(StateOffer))]
internal sealed partial class StateOfferJson : JsonSerializerContext;
