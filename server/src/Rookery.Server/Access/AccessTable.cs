using System.Buffers.Binary;
using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using Rookery.Documents.Records;

namespace Rookery.Server.Access;

/// <summary>
/// All tokens and certificates, from the records at one <see cref="ClusterRecords.Revision"/>. Immutable, so lookups
/// take no lock and allocate nothing.
/// </summary>
internal sealed class AccessTable
{
    private readonly FrozenDictionary<long, Token[]> _tokens;
    private readonly FrozenDictionary<string, Principal> _certificates;

    private AccessTable(
        long revision,
        bool isClaimed,
        IEnumerable<Token> tokens,
        IEnumerable<KeyValuePair<string, CertificateRecord>> certificates
    )
    {
        Revision = revision;
        // Keyed by eight bytes of the hash, which an attacker cannot choose; the whole hash is compared in constant
        // time.
        _tokens = tokens
            .GroupBy(static token => BinaryPrimitives.ReadInt64LittleEndian(token.Hash))
            .ToFrozenDictionary(static group => group.Key, static group => group.ToArray());
        _certificates = certificates.ToFrozenDictionary(
            static pair => pair.Key,
            static pair => pair.Value.ToPrincipal(),
            StringComparer.Ordinal
        );
        IsClaimed = isClaimed;
    }

    /// <summary>Revision of the records, or an earlier one if they changed while they were read.</summary>
    public long Revision { get; }

    /// <summary>
    /// Whether the cluster has an owner. It has one from its first admin token or certificate on, even after that
    /// credential is revoked.
    /// </summary>
    public bool IsClaimed { get; }

    /// <summary>Reads the records.</summary>
    public static AccessTable Load(ClusterRecords records)
    {
        long revision = records.Revision;
        var foundTokens = new List<Token>();
        foreach (var record in records.List(ClusterRecordPrefix.Access))
        {
            if (AccessToken.HashIn(record.Key) is { } hash && AccessJson.DecodeToken(record.Value.Span) is { } token)
            {
                foundTokens.Add(new Token(hash, token.ToPrincipal(), token.Expires ?? DateTimeOffset.MaxValue));
            }
        }

        var foundCertificates = new List<KeyValuePair<string, CertificateRecord>>();
        foreach (var record in records.List(ClusterRecordPrefix.ClientCertificate))
        {
            if (AccessJson.DecodeCertificate(record.Value.Span) is { } certificate)
            {
                foundCertificates.Add(
                    KeyValuePair.Create(record.Key[ClusterRecordPrefix.ClientCertificate.Length..], certificate)
                );
            }
        }

        return new AccessTable(revision, records.TryGet(ClaimRoute.OwnerKey, out _), foundTokens, foundCertificates);
    }

    /// <summary>Finds the holder of a token. The caller checks whether the token has expired.</summary>
    /// <param name="hash">SHA-256 of the token.</param>
    /// <param name="principal">The holder.</param>
    /// <param name="expires">Time of expiry; <see cref="DateTimeOffset.MaxValue"/> for never.</param>
    public bool TryFindToken(
        ReadOnlySpan<byte> hash,
        [NotNullWhen(true)] out Principal? principal,
        out DateTimeOffset expires
    )
    {
        principal = null;
        expires = default;
        if (_tokens.TryGetValue(BinaryPrimitives.ReadInt64LittleEndian(hash), out var candidates))
        {
            foreach (var token in candidates)
            {
                if (CryptographicOperations.FixedTimeEquals(token.Hash, hash))
                {
                    (principal, expires) = (token.Principal, token.Expires);
                }
            }
        }

        return principal is not null;
    }

    /// <summary>Finds the holder of a certificate.</summary>
    public bool TryFindCertificate(string thumbprint, [NotNullWhen(true)] out Principal? principal) =>
        _certificates.TryGetValue(thumbprint, out principal);

    private sealed record Token(byte[] Hash, Principal Principal, DateTimeOffset Expires);
}
