using System.Text.Json;
using System.Text.Json.Serialization;

namespace Rookery.Server.Access;

/// <summary>What is kept of a bearer token under <c>access/HASH</c>: never the token.</summary>
/// <param name="Name">As its owner called it.</param>
/// <param name="Scopes">Names of scopes; those that a newer version invented are passed over.</param>
/// <param name="Databases">The databases in which read and write hold; null for all.</param>
/// <param name="Created">When it was made.</param>
/// <param name="Expires">When it ends; null for never.</param>
internal sealed record TokenRecord(
    string Name,
    string[] Scopes,
    string[]? Databases,
    DateTimeOffset Created,
    DateTimeOffset? Expires
)
{
    /// <summary>What its holder may do.</summary>
    public Principal ToPrincipal()
    {
        var scopes = Scopes.Aggregate(AccessScopes.None, static (all, name) => all | AccessScopeNames.Parse(name));
        return Databases is null
            ? new Principal(Name, scopes, [])
            : new Principal(
                Name,
                scopes & ~(AccessScopes.Read | AccessScopes.Write),
                Databases.Select(database => KeyValuePair.Create(database, scopes))
            );
    }
}

/// <summary>
/// What is kept of a client's certificate under <c>certificate/THUMBPRINT</c>, the SHA-256 of the certificate in
/// lower-case hexadecimal.
/// </summary>
/// <param name="Name">As its owner called it.</param>
/// <param name="IsAdmin">Whether it may do everything.</param>
/// <param name="Databases">Rights by database: "ro", "rw".</param>
/// <param name="Created">When it was registered.</param>
/// <param name="Expires">When the certificate ends.</param>
internal sealed record CertificateRecord(
    string Name,
    bool IsAdmin,
    Dictionary<string, string> Databases,
    DateTimeOffset Created,
    DateTimeOffset Expires
)
{
    /// <summary>What its holder may do.</summary>
    public Principal ToPrincipal() =>
        new(
            Name,
            IsAdmin ? AccessScopes.All : AccessScopes.None,
            Databases.Select(static pair => KeyValuePair.Create(pair.Key, ScopesOf(pair.Value)))
        );

    /// <summary>What a right stands for; <see cref="AccessScopes.None"/> when it is none.</summary>
    public static AccessScopes ScopesOf(string right) =>
        right switch
        {
            "ro" => AccessScopes.Read,
            "rw" => AccessScopes.Read | AccessScopes.Write,
            _ => AccessScopes.None,
        };
}

/// <summary>How these records are written: JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(TokenRecord))]
[JsonSerializable(typeof(CertificateRecord))]
internal sealed partial class AccessJson : JsonSerializerContext
{
    /// <summary>A record as it is kept.</summary>
    public static byte[] Encode(TokenRecord record) => JsonSerializer.SerializeToUtf8Bytes(record, Default.TokenRecord);

    /// <inheritdoc cref="Encode(TokenRecord)"/>
    public static byte[] Encode(CertificateRecord record) =>
        JsonSerializer.SerializeToUtf8Bytes(record, Default.CertificateRecord);

    /// <summary>
    /// Reads a token's record; null when a newer version wrote something else there: then it opens nothing.
    /// </summary>
    public static TokenRecord? DecodeToken(ReadOnlySpan<byte> value) =>
        Decode(value, Default.TokenRecord) is { Name: not null, Scopes: not null } record ? record : null;

    /// <summary>Reads a certificate's record; null as in <see cref="DecodeToken"/>.</summary>
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
