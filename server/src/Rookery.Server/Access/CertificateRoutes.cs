using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Records;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Access;

/// <summary>
/// /admin/access/certificates: GET lists the client certificates, POST {"Name","Request","Admin","Databases"} signs one
/// for the key in a PKCS #10 request (PEM), DELETE ?name= revokes one. The private key never leaves the client.
/// </summary>
internal sealed class CertificateRoutes(ServerContext context)
{
    private const string Path = "/admin/access/certificates";

    // Object identifiers of the curves: RFC 5480, 2.1.1.1.
    private const string P256 = "1.2.840.10045.3.1.7";
    private const string P384 = "1.3.132.0.34";
    private const string P521 = "1.3.132.0.35";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var certificates = new CertificateRoutes(context);
        routes
            .MapMethods(Path, [HttpMethods.Get], RavenRoute.OnServer(certificates.ListAsync))
            .For(RouteScope.Admin)
            .Taking(RouteParameters.None);
        routes
            .MapMethods(Path, [HttpMethods.Post], RavenRoute.OnServer(certificates.CreateAsync))
            .For(RouteScope.Admin)
            .Taking(RouteParameters.None);
        routes
            .MapMethods(Path, [HttpMethods.Delete], RavenRoute.OnServer(certificates.RemoveAsync))
            .For(RouteScope.Admin)
            .Taking(RouteParameters.WithoutBody("name"));
    }

    private async Task ListAsync(HttpContext http)
    {
        await AccessResponse.ReadBarrierAsync(context);
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteStartArray("Certificates"u8);
                foreach (
                    var (key, certificate) in All()
                        .OrderBy(static known => known.Certificate.Name, StringComparer.Ordinal)
                )
                {
                    json.WriteStartObject();
                    Write(json, key[ClusterRecordPrefix.ClientCertificate.Length..], certificate);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );
    }

    private async Task CreateAsync(HttpContext http)
    {
        var identity =
            context.Options.Identity?.Invoke()
            ?? throw new RefusedException(
                StatusCodes.Status409Conflict,
                RavenType.RavenException,
                "This node has no authority that could sign certificates. Form a cluster first, even of one "
                    + "node: `rookery cluster init`."
            );
        var signingRequest = await ReadAsync(http);
        await AccessResponse.ReadBarrierAsync(context);
        string taken =
            $"There is a certificate '{signingRequest.Name}'. Revoke it first with "
            + $"`rookery cert rm {signingRequest.Name}`, or choose another name.";
        if (All().Any(known => string.Equals(known.Certificate.Name, signingRequest.Name, StringComparison.Ordinal)))
        {
            throw new RefusedException(StatusCodes.Status409Conflict, RavenType.Concurrency, taken);
        }

        var now = context.KnownTime;
        using var signed = identity.SignClient(signingRequest.Key!, signingRequest.Name!, now);
        var record = new CertificateRecord(
            signingRequest.Name!,
            signingRequest.IsAdmin,
            signingRequest.Databases,
            now,
            new DateTimeOffset(signed.NotAfter)
        );
        string thumbprint = AccessGate.ThumbprintOf(signed);
        await context.CredentialQuota.CommitAsync(
            writer =>
            {
                writer.Set(
                    ClusterRecordPrefix.ClientCertificate + thumbprint,
                    AccessJson.Encode(record),
                    ClusterRecord.Absent
                );
                writer.Set(AccessNames.KeyOfCertificate(record.Name), "{}"u8, ClusterRecord.Absent);
                if (signingRequest.IsAdmin)
                {
                    writer.Set(ClaimRoute.OwnerKey, "{}"u8);
                }
            },
            taken
        );
        context.Log.LogInformation(
            LogEvents.CertificateSigned,
            "'{Who}' had the certificate '{Name}' signed, with thumbprint {Thumbprint}.",
            Principal.Of(http).Name,
            signingRequest.Name,
            thumbprint
        );
        string? notice = AccessResponse.DescribeMissingDatabases(context, signingRequest.Databases.Keys);
        string certificate = signed.ExportCertificatePem();
        string authorities = string.Join(
            '\n',
            identity.Authorities.Select(static authority => authority.ExportCertificatePem())
        );
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Certificate"u8, certificate);
                json.WriteString("Authorities"u8, authorities);
                Write(json, thumbprint, record);
                AccessResponse.WriteNotice(json, notice);
            },
            StatusCodes.Status201Created
        );
    }

    private async Task RemoveAsync(HttpContext http)
    {
        string name = new QueryParameters(http).RequiredText("name");
        await AccessResponse.ReadBarrierAsync(context);
        using var writer = new ClusterRecordWriter();
        foreach (
            var (key, _) in All().Where(known => string.Equals(known.Certificate.Name, name, StringComparison.Ordinal))
        )
        {
            writer.Delete(key);
        }

        if (writer.Count == 0)
        {
            throw new RefusedException(
                StatusCodes.Status404NotFound,
                RavenType.RavenException,
                $"There is no certificate '{name}'; `rookery cert ls` lists the certificates."
            );
        }

        writer.Delete(AccessNames.KeyOfCertificate(name));
        await AccessResponse.CommitAsync(context, writer);
        context.Log.LogInformation(
            LogEvents.CertificateRevoked,
            "'{Who}' revoked the certificate '{Name}'.",
            Principal.Of(http).Name,
            name
        );
        await EmptyResponse.AnswerNoContent(http);
    }

    private IEnumerable<(string Key, CertificateRecord Certificate)> All()
    {
        foreach (var record in context.Node.ClusterRecords.List(ClusterRecordPrefix.ClientCertificate))
        {
            if (AccessJson.DecodeCertificate(record.Value.Span) is { } certificate)
            {
                yield return (record.Key, certificate);
            }
        }
    }

    private async Task<SigningRequest> ReadAsync(HttpContext http)
    {
        using var body = await RequestBody.ReadAsync(
            http,
            AccessResponse.BodyBytes,
            context.LargeRequests,
            BodyUse.Objects
        );
        var signingRequest = new SigningRequest();
        AccessResponse.ReadMembers(
            body.Span,
            (string member, ref Utf8JsonReader json) =>
            {
                switch (member)
                {
                    case "Name":
                        signingRequest.Name = JsonBody.ReadText(ref json, member);
                        break;
                    case "Request":
                        signingRequest.Key = ReadKey(JsonBody.ReadText(ref json, member));
                        break;
                    case "Admin":
                        signingRequest.IsAdmin = json.TokenType is JsonTokenType.True or JsonTokenType.False
                            ? json.GetBoolean()
                            : throw RefusedException.BadRequest("'Admin' must be true or false.");
                        break;
                    case "Databases":
                        JsonBody.ForEachMember(ref json, signingRequest.AddRight, subject: "'Databases'");
                        break;
                    default:
                        throw AccessResponse.UnknownMember(member);
                }
            }
        );

        if (signingRequest.Key is null)
        {
            throw RefusedException.BadRequest(
                "'Request' is missing: a PKCS #10 request in PEM, which proves that its sender holds the key."
            );
        }

        if (AccessNames.Problem(signingRequest.Name) is { } problem)
        {
            throw RefusedException.BadRequest(problem);
        }

        if (!signingRequest.IsAdmin && signingRequest.Databases.Count == 0)
        {
            throw RefusedException.BadRequest("A certificate needs 'ro' or 'rw' in some database, or 'Admin': true.");
        }

        if (signingRequest.IsAdmin && signingRequest.Databases.Count > 0)
        {
            throw RefusedException.BadRequest(
                "'Databases' does not limit 'Admin', which allows everything: omit one of the two."
            );
        }

        return signingRequest;
    }

    /// <summary>Returns the public key in a PKCS #10 request, after checking the signature of the request.</summary>
    private static PublicKey ReadKey(string? pem)
    {
        try
        {
            var key = CertificateRequest.LoadSigningRequestPem(pem ?? string.Empty, HashAlgorithmName.SHA256).PublicKey;
            return IsStrong(key)
                ? key
                : throw RefusedException.BadRequest(
                    "The key of 'Request' must be RSA of 2048 to 8192 bits, or on one of the curves P-256, "
                        + "P-384 and P-521."
                );
        }
        catch (Exception failure) when (failure is CryptographicException or ArgumentException)
        {
            throw RefusedException.BadRequest(
                "'Request' is not a PKCS #10 request in PEM that is signed by its own key."
            );
        }
    }

    private static bool IsStrong(PublicKey key)
    {
        using var rsa = key.GetRSAPublicKey();
        using var elliptic = key.GetECDsaPublicKey();
        return rsa is not null
            ? rsa.KeySize is >= 2048 and <= 8192
            : elliptic?.ExportParameters(includePrivateParameters: false).Curve.Oid.Value is P256 or P384 or P521;
    }

    private static void Write(Utf8JsonWriter json, string thumbprint, CertificateRecord certificate)
    {
        json.WriteString("Name"u8, certificate.Name);
        json.WriteString("Thumbprint"u8, thumbprint);
        json.WriteBoolean("Admin"u8, certificate.IsAdmin);
        json.WriteStartObject("Databases"u8);
        foreach (var (database, right) in certificate.Databases)
        {
            json.WriteString(database, right);
        }

        json.WriteEndObject();
        json.WriteString("Created"u8, certificate.Created);
        json.WriteString("Expires"u8, certificate.Expires);
    }

    private sealed class SigningRequest
    {
        public string? Name { get; set; }

        public PublicKey? Key { get; set; }

        public bool IsAdmin { get; set; }

        public Dictionary<string, string> Databases { get; } = new(StringComparer.OrdinalIgnoreCase);

        public void AddRight(string database, ref Utf8JsonReader json)
        {
            string right = JsonBody.ReadText(ref json, database) ?? string.Empty;
            if (DatabaseName.Problem(database) is { } problem)
            {
                throw RefusedException.BadRequest(problem);
            }

            if (CertificateRecord.ScopesOf(right) == AccessScopes.None)
            {
                throw RefusedException.BadRequest($"The right on '{database}' must be 'ro' or 'rw', not '{right}'.");
            }

            if (!Databases.TryAdd(database, right))
            {
                throw RefusedException.BadRequest(
                    $"'Databases' names the database '{database}' twice, because the case of names does not count. "
                        + "Name it once."
                );
            }
        }
    }
}
