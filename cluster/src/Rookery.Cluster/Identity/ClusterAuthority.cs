using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A cluster's own certificate authority: a P-256 key and a certificate. It may sign only leaves, and only for the
/// cluster's names and private addresses (<see cref="NameConstraints"/>). Every member holds the key, because every
/// member may become leader and admit nodes.
/// </summary>
public sealed class ClusterAuthority : IDisposable
{
    // id-kp-serverAuth and id-kp-clientAuth of RFC 5280 4.2.1.12.
    private const string ServerUsage = "1.3.6.1.5.5.7.3.1";
    private const string ClientUsage = "1.3.6.1.5.5.7.3.2";

    private readonly ECDsa _key;
    private readonly NameConstraints _constraints;

    private ClusterAuthority(string clusterId, X509Certificate2 certificate, ECDsa key)
    {
        ClusterId = clusterId;
        Certificate = certificate;
        _key = key;
        _constraints = NameConstraints.ReadFrom(certificate);
    }

    /// <summary>The cluster's random id.</summary>
    public string ClusterId { get; }

    /// <summary>The certificate, without the key.</summary>
    public X509Certificate2 Certificate { get; }

    /// <summary>The SHA-256 of the certificate, which a join token pins.</summary>
    public byte[] Fingerprint => FingerprintOf(Certificate);

    internal static Oid Server => new(ServerUsage);

    internal static Oid Client => new(ClientUsage);

    /// <summary>Returns the SHA-256 of an authority's certificate.</summary>
    public static byte[] FingerprintOf(X509Certificate2 authority) => SHA256.HashData(authority.RawDataMemory.Span);

    /// <summary>Makes a new authority.</summary>
    /// <param name="clusterId">The cluster's random id.</param>
    /// <param name="clusterName">The cluster's <see cref="MemberName"/>.</param>
    /// <param name="addedNames">DNS names and domains, such as bare host names, in addition to those that every cluster
    /// may use.</param>
    public static ClusterAuthority Create(string clusterId, string clusterName, IEnumerable<string> addedNames)
    {
        var key = NodeKey.Create();
        var request = new CertificateRequest(SubjectOf(clusterName, key), key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(
            X509BasicConstraintsExtension.CreateForCertificateAuthority(pathLengthConstraint: 0)
        );
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true)
        );
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        request.CertificateExtensions.Add(NameConstraints.OfCluster(clusterName, addedNames).ToExtension());
        var (notBefore, notAfter) = CertificateLife.OfAuthority;
        return new ClusterAuthority(
            clusterId,
            request.Create(
                request.SubjectName,
                X509SignatureGenerator.CreateForECDsa(key),
                notBefore,
                notAfter,
                NewSerialNumber()
            ),
            key
        );
    }

    /// <summary>Makes an authority from its private key.</summary>
    /// <param name="clusterId">The cluster's random id.</param>
    /// <param name="certificate">The certificate.</param>
    /// <param name="privateKey">The key in PKCS #8.</param>
    /// <exception cref="IdentityException">The key does not match the certificate, or cannot be read.</exception>
    public static ClusterAuthority FromKey(
        string clusterId,
        X509Certificate2 certificate,
        ReadOnlySpan<byte> privateKey
    )
    {
        var key = ECDsa.Create();
        try
        {
            key.ImportPkcs8PrivateKey(privateKey, out _);
            return key.ExportSubjectPublicKeyInfo()
                .AsSpan()
                .SequenceEqual(certificate.PublicKey.ExportSubjectPublicKeyInfo())
                ? new ClusterAuthority(clusterId, certificate, key)
                : throw new IdentityException($"The key does not belong to the authority {certificate.Subject}.");
        }
        catch (CryptographicException)
        {
            key.Dispose();
            throw new IdentityException($"The key of the authority {certificate.Subject} cannot be read.");
        }
    }

    /// <summary>Decrypts the authority's key, which was sealed for a member, with that member's private key.</summary>
    /// <param name="clusterId">The cluster's random id.</param>
    /// <param name="certificate">The certificate.</param>
    /// <param name="sealedKey">The result of <see cref="SealKeyFor"/>.</param>
    /// <param name="memberKey">The member's private key.</param>
    /// <exception cref="IdentityException">The key was sealed for another member or another authority, or is
    /// damaged.</exception>
    public static ClusterAuthority OpenKey(
        string clusterId,
        X509Certificate2 certificate,
        ReadOnlySpan<byte> sealedKey,
        ECDsa memberKey
    )
    {
        byte[] privateKey =
            SealedKey.Open(sealedKey, memberKey, FingerprintOf(certificate))
            ?? throw new IdentityException(
                $"The key of the authority {certificate.Subject} was not sealed for this node, or is "
                    + $"damaged. Another member can seal it again."
            );
        try
        {
            return FromKey(clusterId, certificate, privateKey);
        }
        finally
        {
            CryptographicOperations.ZeroMemory(privateKey);
        }
    }

    /// <summary>Encrypts the authority's key so that only one member can read it.</summary>
    /// <param name="member">That member's public key.</param>
    public byte[] SealKeyFor(PublicKey member)
    {
        byte[] privateKey = _key.ExportPkcs8PrivateKey();
        try
        {
            return SealedKey.Seal(privateKey, member, Fingerprint);
        }
        finally
        {
            CryptographicOperations.ZeroMemory(privateKey);
        }
    }

    /// <summary>
    /// Signs a member's certificate, for server and client use. Names and addresses that the authority may not sign are
    /// left out.
    /// </summary>
    /// <param name="key">The member's public key.</param>
    /// <param name="nodeId">The member's random id.</param>
    /// <param name="names">The member's names and addresses.</param>
    /// <param name="now">The current time.</param>
    public X509Certificate2 SignNode(PublicKey key, string nodeId, NodeNames names, DateTimeOffset now) =>
        Sign(
            key,
            names.Name,
            new SubjectAlternativeNames(
                [.. DnsNamesOf(names)],
                [.. names.Addresses.Where(_constraints.Permits)],
                NodeUri.OfNode(ClusterId, nodeId)
            ),
            // Key agreement, because the member's key also decrypts secrets (SealedKey).
            X509KeyUsageFlags.DigitalSignature | X509KeyUsageFlags.KeyAgreement,
            [Server, Client],
            now
        );

    /// <summary>Signs the certificate of a client.</summary>
    /// <param name="key">The client's public key.</param>
    /// <param name="name">The client's <see cref="MemberName"/>.</param>
    /// <param name="now">The current time.</param>
    public X509Certificate2 SignClient(PublicKey key, string name, DateTimeOffset now) =>
        Sign(
            key,
            name,
            new SubjectAlternativeNames([], [], NodeUri.OfClient(ClusterId, name)),
            X509KeyUsageFlags.DigitalSignature,
            [Client],
            now
        );

    /// <summary>
    /// Whether a member's certificate contains all its current names and addresses that the authority may sign.
    /// </summary>
    internal bool Covers(X509Certificate2 certificate, NodeNames names) =>
        SubjectAlternativeNames.ReadFrom(certificate) is { } covered
        && DnsNamesOf(names).All(name => covered.DnsNames.Contains(name, StringComparer.Ordinal))
        && names.Addresses.Where(_constraints.Permits).All(covered.Addresses.Contains);

    /// <summary>
    /// Returns the DNS names of a node: its own name, the names configured for clients, the names added to the
    /// authority, and the node's name in each added domain.
    /// </summary>
    private IEnumerable<string> DnsNamesOf(NodeNames names) =>
        names
            .DnsNames.Concat(_constraints.AddedIn(names.ClusterName))
            .Concat(
                _constraints
                    .AddedIn(names.ClusterName)
                    .Where(static domain => domain.Contains('.', StringComparison.Ordinal))
                    .Select(domain => $"{names.Name}.{domain}")
            )
            .Where(_constraints.Permits)
            .Distinct(StringComparer.Ordinal);

    /// <inheritdoc/>
    public void Dispose()
    {
        _key.Dispose();
        Certificate.Dispose();
    }

    /// <summary>
    /// Returns the authority's subject. The subject contains a hash of the key, because a verifier that looks up an
    /// authority by name must not find the other one during a rotation.
    /// </summary>
    private static X500DistinguishedName SubjectOf(string clusterName, ECDsa key)
    {
        var builder = new X500DistinguishedNameBuilder();
        byte[] keyHash = SHA256.HashData(key.ExportSubjectPublicKeyInfo());
        builder.AddCommonName($"{clusterName} authority {Convert.ToHexStringLower(keyHash.AsSpan(0, 4))}");
        builder.AddOrganizationName("Rookery");
        return builder.Build();
    }

    /// <summary>
    /// Returns a serial number as RFC 5280 4.1.2.2 demands: positive, at most 20 bytes and unique. It is random,
    /// because members sign without coordination.
    /// </summary>
    private static byte[] NewSerialNumber()
    {
        byte[] number = RandomNumberGenerator.GetBytes(16);
        // Clear the sign bit, and set the bit below it, so that the encoded number always has 16 bytes.
        number[0] = (byte)((number[0] & 0x7f) | 0x40);
        return number;
    }

    private X509Certificate2 Sign(
        PublicKey key,
        string name,
        SubjectAlternativeNames names,
        X509KeyUsageFlags keyUsage,
        OidCollection usages,
        DateTimeOffset now
    )
    {
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(name);
        var request = new CertificateRequest(subject.Build(), key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(X509BasicConstraintsExtension.CreateForEndEntity(critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(keyUsage, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(usages, critical: false));
        request.CertificateExtensions.Add(
            X509AuthorityKeyIdentifierExtension.CreateFromCertificate(
                Certificate,
                includeKeyIdentifier: true,
                includeIssuerAndSerial: false
            )
        );
        request.CertificateExtensions.Add(names.ToExtension());
        var (notBefore, notAfter) = CertificateLife.LeafFrom(now);
        return request.Create(
            Certificate.SubjectName,
            X509SignatureGenerator.CreateForECDsa(_key),
            notBefore,
            notAfter,
            NewSerialNumber()
        );
    }
}

/// <summary>A node's names and addresses.</summary>
/// <param name="Name">The node's <see cref="MemberName"/>.</param>
/// <param name="ClusterName">The cluster's name.</param>
/// <param name="CurrentAddresses">The addresses of the node's network interfaces.</param>
public sealed record NodeNames(string Name, string ClusterName, IReadOnlyList<IPAddress> CurrentAddresses)
{
    /// <summary>
    /// Other names by which clients or members reach the node, in lower case, such as the host of its public URL.
    /// </summary>
    public IReadOnlyList<string> OtherDnsNames { get; init; } = [];

    /// <summary>The DNS names by which the node is reached, in lower case.</summary>
    internal IEnumerable<string> DnsNames =>
        [Name, Name + ".local", $"{Name}.{NameConstraints.DomainOf(ClusterName)}", "localhost", .. OtherDnsNames];

    /// <summary>
    /// The current addresses and the loopback ones, without IPv6 zones, and with mapped IPv4 addresses as IPv4.
    /// </summary>
    internal IEnumerable<IPAddress> Addresses =>
        CurrentAddresses
            .Select(address =>
                address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : new IPAddress(address.GetAddressBytes())
            )
            .Concat([IPAddress.Loopback, IPAddress.IPv6Loopback])
            .Distinct();
}
