using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Rookery.Cluster.Joining;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The stage of a rotation of the authority. <see cref="Trusting"/> and <see cref="Retiring"/> end when every member
/// has completed them. <see cref="Signing"/> ends when the operator orders the next stage, which is possible once every
/// member has completed it.
/// </summary>
public enum RotationStage
{
    /// <summary>Members begin to trust the new authority in addition to the old one, which still signs.</summary>
    Trusting,

    /// <summary>
    /// Members use certificates of the new authority with each other, and sign with it. Clients still see certificates
    /// of the old one, until the operator has given every client the new authority. Both authorities are trusted.
    /// </summary>
    Signing,

    /// <summary>
    /// The operator has ordered to drop the old authority. Members no longer trust it, and clients see certificates of
    /// the new one.
    /// </summary>
    Retiring,
}

/// <summary>A running rotation, as stored in the cluster's records as JSON under <see cref="Key"/>.</summary>
internal sealed record RotationRecord
{
    /// <summary>The record's key. There is at most one rotation.</summary>
    public const string Key = ClusterRecordPrefix.Authority + "next";

    /// <summary>The key prefix of members' acknowledgements.</summary>
    public const string Acknowledgements = ClusterRecordPrefix.Authority + "ack/";

    /// <summary>The new authority's certificate (DER).</summary>
    public required byte[] Certificate { get; init; }

    /// <summary>
    /// The new authority's private key, encrypted for each member (<see cref="SealedKey"/>), by node id.
    /// </summary>
    public required IReadOnlyDictionary<string, byte[]> Keys { get; init; }

    public required RotationStage Stage { get; init; }

    /// <summary>Returns the key of a member's acknowledgement of a stage.</summary>
    public static string AcknowledgementOf(RotationStage stage, string nodeId) =>
        $"{Acknowledgements}{(int)stage}/{nodeId}";

    /// <summary>Parses a record; null when it is malformed.</summary>
    public static RotationRecord? Parse(ReadOnlySpan<byte> json) =>
        ClusterJson.TryRead(json, ClusterJson.Default.RotationRecord);

    /// <summary>Loads the new authority's certificate.</summary>
    public X509Certificate2 Load() => X509CertificateLoader.LoadCertificate(Certificate);

    /// <summary>Returns the record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.RotationRecord);
}
