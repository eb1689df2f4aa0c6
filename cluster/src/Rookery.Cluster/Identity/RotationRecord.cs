using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Rookery.Cluster.Joining;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Identity;

/// <summary>
/// How far a rotation of the authority has come. Each stage ends when every member has taken part in it.
/// </summary>
public enum RotationStage
{
    /// <summary>Members learn to trust the next authority beside the one that signs.</summary>
    Trusting,

    /// <summary>
    /// Members show each other certificates of the next authority, and sign by it. Clients are shown those of the old
    /// one still, and both are trusted, until the owner has told every client of the next.
    /// </summary>
    Signing,

    /// <summary>
    /// The owner has said that the old authority may go; members trust it no more, and show clients the next.
    /// </summary>
    Retiring,
}

/// <summary>A rotation under way, as JSON under <see cref="Key"/>.</summary>
internal sealed record RotationRecord
{
    /// <summary>The record's key: there is one rotation at a time.</summary>
    public const string Key = ClusterRecordPrefix.Authority + "next";

    /// <summary>What the keys of members' acknowledgements begin with.</summary>
    public const string Acknowledgements = ClusterRecordPrefix.Authority + "ack/";

    /// <summary>The next authority's certificate (DER).</summary>
    public required byte[] Certificate { get; init; }

    /// <summary>Its key, sealed for each member, by node id.</summary>
    public required IReadOnlyDictionary<string, byte[]> Keys { get; init; }

    public required RotationStage Stage { get; init; }

    /// <summary>The key under which a member says that it has done its part in a stage.</summary>
    public static string AcknowledgementOf(RotationStage stage, string nodeId) =>
        $"{Acknowledgements}{(int)stage}/{nodeId}";

    /// <summary>Parses a record; null if it is none.</summary>
    public static RotationRecord? Parse(ReadOnlySpan<byte> json) =>
        ClusterJson.TryRead(json, ClusterJson.Default.RotationRecord);

    /// <summary>The certificate, loaded.</summary>
    public X509Certificate2 Load() => X509CertificateLoader.LoadCertificate(Certificate);

    /// <summary>The record's value.</summary>
    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, ClusterJson.Default.RotationRecord);
}
