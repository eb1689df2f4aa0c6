using System.CommandLine;
using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Ids;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Access;

/// <summary>
/// `rookery cert`: manages client certificates. Their keys are generated on this machine and never leave it; the
/// cluster's authority signs the certificates.
/// </summary>
internal static class CertificateCommand
{
    private const string Path = "/admin/access/certificates";
    private const int RsaBits = 2048;
    private const string AdminRight = "admin";

    public static Command Create() =>
        new("cert", "Client certificates, as RavenDB's clients use them.")
        {
            CreateCertificate(),
            CreateList(),
            RevokeCommand.Create("certificate", Path),
        };

    private static Command CreateCertificate()
    {
        var address = new NodeAddress();
        var name = new Argument<string>("NAME")
        {
            Description = "The certificate's name: lower-case letters, digits, hyphens.",
        };
        var access = new Option<string[]>("--access")
        {
            Description = "A right, DB:ro or DB:rw, or admin for everything; may be repeated.",
            HelpName = "RIGHT",
            Required = true,
        };
        var to = new Option<string>("--to")
        {
            Description = "Directory for the files; made when it is missing.",
            HelpName = "DIR",
            DefaultValueFactory = static _ => ".",
        };
        var password = new Option<string>("--pfx-password-file")
        {
            Description = "File with the password of the .pfx [default: none].",
            HelpName = "FILE",
        };
        var command = address.AddTo(
            new Command("create", "Make a certificate: writes NAME.pfx, NAME.pem and NAME-ca.pem.")
            {
                name,
                access,
                to,
                password,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var files = new CertificateFiles(
                            System.IO.Path.GetFullPath(parsed.GetValue(to)!),
                            parsed.GetValue(name)!
                        );
                        string pfxPassword = parsed.GetValue(password) is { } file
                            ? NodeAddress.ReadFile(file).TrimEnd('\r', '\n')
                            : string.Empty;
                        var created = await CreateAsync(
                            client,
                            parsed.GetValue(name)!,
                            parsed.GetValue(access)!,
                            files,
                            pfxPassword
                        );
                        if (!address.IsJson(parsed))
                        {
                            TokenCommand.PrintNotice(created);
                        }

                        var expires = created.GetProperty("Expires").GetDateTimeOffset().UtcDateTime;
                        string expiry = expires.ToString("u", CultureInfo.InvariantCulture);
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed)
                                ? created.GetRawText()
                                : $"Wrote {files.Pfx}, {files.Pem} and {files.Authority}; "
                                    + $"the certificate expires at {expiry}."
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static async Task<JsonElement> CreateAsync(
        AdminClient client,
        string name,
        string[] rights,
        CertificateFiles files,
        string password
    )
    {
        if (WhyInvalid(rights) is { } problem)
        {
            throw new AdminException(problem, ExitCode.Configuration);
        }

        files.Prepare();
        // RavenDB's Node client accepts a key in a .pem file only under the label RSA PRIVATE KEY.
        using var key = RSA.Create(RsaBits);
        string request = new CertificateRequest(
            new X500DistinguishedName("CN=client"),
            key,
            HashAlgorithmName.SHA256,
            RSASignaturePadding.Pkcs1
        ).CreateSigningRequestPem();
        var created = await client.SendAsync(
            HttpMethod.Post,
            Path,
            json =>
            {
                json.WriteString("Name"u8, name);
                json.WriteString("Request"u8, request);
                json.WriteBoolean("Admin"u8, rights.Contains(AdminRight, StringComparer.Ordinal));
                json.WriteStartObject("Databases"u8);
                foreach (var (database, right) in rights.Where(static right => right is not AdminRight).Select(Split))
                {
                    json.WriteString(database, right);
                }

                json.WriteEndObject();
            }
        );
        files.Write(
            key,
            created.GetProperty("Certificate").GetString()!,
            created.GetProperty("Authorities").GetString()!,
            password
        );
        return created;
    }

    /// <summary>Returns why the rights given by --access cannot be one certificate's; null if they can.</summary>
    internal static string? WhyInvalid(IReadOnlyList<string> rights)
    {
        bool isAdmin = rights.Contains(AdminRight, StringComparer.Ordinal);
        if (isAdmin)
        {
            return rights.Count == 1
                ? null
                : "--access admin allows everything, so other rights do not limit it. Leave one of them out.";
        }

        if (rights.FirstOrDefault(static right => Split(right).Right is not ("ro" or "rw")) is { } unknown)
        {
            return $"--access {unknown} is not a right: write DB:ro (read), DB:rw (read and write) or admin.";
        }

        return
            rights
                .Select(static right => Split(right).Database)
                .GroupBy(static database => database, IgnoredCase.OfNames)
                .FirstOrDefault(static named => named.Skip(1).Any())
                is { } repeated
            ? $"--access names the database {repeated.Key} twice. A certificate has one right for each database."
            : null;
    }

    private static (string Database, string Right) Split(string right)
    {
        int colon = right.LastIndexOf(':');
        return colon < 0 ? (right, string.Empty) : (right[..colon], right[(colon + 1)..]);
    }

    private static Command CreateList()
    {
        var address = new NodeAddress();
        var command = address.AddTo(new Command("ls", "List the certificates of clients."));
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.SendAsync(HttpMethod.Get, Path);
                        if (address.IsJson(parsed))
                        {
                            await Console.Out.WriteLineAsync(answer.GetRawText());
                            return ExitCode.Success;
                        }

                        foreach (var certificate in answer.GetProperty("Certificates").EnumerateArray())
                        {
                            string rights = certificate.GetProperty("Admin").GetBoolean()
                                ? AdminRight
                                : string.Join(
                                    ' ',
                                    certificate
                                        .GetProperty("Databases")
                                        .EnumerateObject()
                                        .Select(static right => $"{right.Name}:{right.Value.GetString()}")
                                );
                            string expiry = certificate
                                .GetProperty("Expires")
                                .GetDateTimeOffset()
                                .UtcDateTime.ToString("u", CultureInfo.InvariantCulture);
                            await Console.Out.WriteLineAsync(
                                $"{certificate.GetProperty("Name").GetString()}: {rights}, until {expiry}, "
                                    + $"{certificate.GetProperty("Thumbprint").GetString()}"
                            );
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    /// <summary>The files of a client. Only their owner may read them, because the first two contain the key.</summary>
    private sealed class CertificateFiles(string directory, string name)
    {
        private readonly PosixDisk _disk = new();

        public string Pfx => System.IO.Path.Join(directory, name + ".pfx");

        public string Pem => System.IO.Path.Join(directory, name + ".pem");

        public string Authority => System.IO.Path.Join(directory, name + "-ca.pem");

        // Runs before the node signs: if the files could not be written afterwards, a certificate without a key would
        // stay registered.
        public void Prepare()
        {
            _disk.CreateDirectory(directory);
            if (Array.Find([Pfx, Pem, Authority], _disk.Exists) is { } existing)
            {
                throw new AdminException(
                    $"{existing} exists already and is not overwritten. Move it, or name another directory with --to.",
                    ExitCode.Configuration
                );
            }
        }

        public void Write(RSA key, string certificatePem, string authoritiesPem, string password)
        {
            using var signed = X509Certificate2.CreateFromPem(certificatePem);
            using var certificate = signed.CopyWithPrivateKey(key);
            X509Certificate2Collection all = [certificate];
            all.ImportFromPem(authoritiesPem);
            Write(Pem, Encoding.ASCII.GetBytes($"{key.ExportRSAPrivateKeyPem()}\n{certificatePem}\n"));
            Write(Authority, Encoding.ASCII.GetBytes(authoritiesPem + "\n"));
            // AES and SHA-256, because OpenSSL 3, and so Node, no longer reads the older ciphers of .pfx files.
            Write(Pfx, all.ExportPkcs12(Pkcs12ExportPbeParameters.Pbes2Aes256Sha256, password));
        }

        private void Write(string path, byte[] bytes)
        {
            using var file = _disk.Open(path, DiskOpen.CreateNew);
            file.Write(bytes, 0);
            file.Sync();
        }
    }
}
