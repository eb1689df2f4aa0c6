using System.Text.Json;
using System.Text.Json.Serialization;

namespace Rookery.Server.Access;

/// <summary>The record of a bearer token under <c>access/HASH</c>. The token itself is not stored.</summary>
/// <param name="Name">Name given by its maker.</param>
/// <param name="Scopes">Names of scopes. Names that only a newer version knows are ignored.</param>
/// <param name="Databases">Databases for the scopes read and write; null for all.</param>
/// <param name="Created">Creation time.</param>
/// <param name="Expires">Time of expiry; null for never.</param>
internal sealed record TokenRecord(
    string Name,
    string[] Scopes,
    string[]? Databases,
    DateTimeOffset Created,
    DateTimeOffset? Expires
)
{
    /// <summary>Returns the rights of its holder.</summary>
    public Principal ToPrincipal()
    {
        var scopes = Scopes.Aggregate(AccessScopes.None, static (all, name) => all | AccessScopeNames.Parse(name));
        string key = AccessNames.KeyOfToken(Name);
        return Databases is null
            ? new Principal(Name, key, scopes, [])
            : new Principal(
                Name,
                key,
                scopes & ~(AccessScopes.Read | AccessScopes.Write),
                Databases.Select(database => KeyValuePair.Create(database, scopes))
            );
    }
}

/// <summary>
/// The record of a client certificate under <c>certificate/THUMBPRINT</c>, the SHA-256 of the certificate in lower-case
/// hexadecimal.
/// </summary>
/// <param name="Name">Name given by its maker.</param>
/// <param name="IsAdmin">Whether its holder may do everything.</param>
/// <param name="Databases">Right for each database: "ro" or "rw".</param>
/// <param name="Created">Time of registration.</param>
/// <param name="Expires">Time of expiry.</param>
internal sealed record CertificateRecord(
    string Name,
    bool IsAdmin,
    Dictionary<string, string> Databases,
    DateTimeOffset Created,
    DateTimeOffset Expires
)
{
    /// <summary>Returns the rights of its holder.</summary>
    public Principal ToPrincipal() =>
        new(
            Name,
            AccessNames.KeyOfCertificate(Name),
            IsAdmin ? AccessScopes.All : AccessScopes.None,
            Databases.Select(static pair => KeyValuePair.Create(pair.Key, ScopesOf(pair.Value)))
        );

    /// <summary>Returns the scopes of a right; <see cref="AccessScopes.None"/> for an unknown one.</summary>
    public static AccessScopes ScopesOf(string right) =>
        right switch
        {
            "ro" => AccessScopes.Read,
            "rw" => AccessScopes.Read | AccessScopes.Write,
            _ => AccessScopes.None,
        };
}

/// <summary>Encodes and decodes access records as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(TokenRecord))]
[JsonSerializable(typeof(CertificateRecord))]
internal sealed partial class AccessJson : JsonSerializerContext
{
    /// <summary>Encodes a record.</summary>
    public static byte[] Encode(TokenRecord record) => JsonSerializer.SerializeToUtf8Bytes(record, Default.TokenRecord);

    /// <inheritdoc cref="Encode(TokenRecord)"/>
    public static byte[] Encode(CertificateRecord record) =>
        JsonSerializer.SerializeToUtf8Bytes(record, Default.CertificateRecord);

    /// <summary>
    /// Decodes the record of a token. Returns null if a newer version wrote it in a form that this version cannot read;
    /// such a token grants nothing here.
    /// </summary>
    public static TokenRecord? DecodeToken(ReadOnlySpan<byte> value) =>
        Decode(value, Default.TokenRecord) is { Name: not null, Scopes: not null } record ? record : null;

    /// <summary>
    /// Decodes the record of a certificate. Returns null in the same case as <see cref="DecodeToken"/>.
    /// </summary>
    public static CertificateRecord? DecodeCertificate(ReadOnlySpan<byte> value) =>
        Decode(value, Default.CertificateRecord) is { Name: not null, Databases: not null } record ? record : null;

    private static T? Decode<T>(ReadOnlySpan<byte> value, System.Text.Json.Serialization.Metadata.JsonTypeInfo<T> type)
        where T : class
    {
        try
        {
            return JsonSerializer.Deserialize(value, type);
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
