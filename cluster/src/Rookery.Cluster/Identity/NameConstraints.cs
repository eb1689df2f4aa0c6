using System.Formats.Asn1;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The names that an authority may sign (RFC 5280 4.2.1.10): DNS names in a few domains, and addresses of private
/// networks. Browsers that trust the authority enforce this, so a stolen key cannot impersonate public websites.
/// </summary>
/// <remarks>
/// URIs are not constrained, although they identify members. Chromium refuses certificates with constraints on name
/// types that it does not support, such as URIs (kSupportedNameTypes in bssl/pki/name_constraints.cc). Only this
/// cluster's own rule reads the URI, and it compares the whole URI.
/// </remarks>
internal sealed class NameConstraints
{
    private const string ObjectId = "2.5.29.30";

    private static readonly Asn1Tag Permitted = new(TagClass.ContextSpecific, 0);
    private static readonly Asn1Tag DnsName = new(TagClass.ContextSpecific, 2);
    private static readonly Asn1Tag IpAddress = new(TagClass.ContextSpecific, 7);

    /// <summary>
    /// Private networks (RFC 1918 and 4193), shared ones that overlay networks use (RFC 6598), loopback (RFC 1122 and
    /// 4291) and link-local (RFC 3927 and 4291).
    /// </summary>
    private static readonly IPNetwork[] PrivateNetworks =
    [
        IPNetwork.Parse("10.0.0.0/8"),
        IPNetwork.Parse("172.16.0.0/12"),
        IPNetwork.Parse("192.168.0.0/16"),
        IPNetwork.Parse("100.64.0.0/10"),
        IPNetwork.Parse("169.254.0.0/16"),
        IPNetwork.Parse("127.0.0.0/8"),
        IPNetwork.Parse("::1/128"),
        IPNetwork.Parse("fe80::/10"),
        IPNetwork.Parse("fc00::/7"),
    ];

    private readonly string[] _domains;
    private readonly IPNetwork[] _networks;

    private NameConstraints(IEnumerable<string> domains, IEnumerable<IPNetwork> networks) =>
        (_domains, _networks) = ([.. domains.Distinct(StringComparer.Ordinal)], [.. networks]);

    /// <summary>The domains under which DNS names are permitted.</summary>
    public IReadOnlyList<string> Domains => _domains;

    /// <summary>
    /// Returns the constraints of a cluster: domains that no registry assigns (<c>local</c> RFC 6762, <c>home.arpa</c>
    /// RFC 8375, <c>internal</c>, <c>localhost</c>), the cluster's own domain, and the domains and bare host names that
    /// the operator added.
    /// </summary>
    public static NameConstraints OfCluster(string clusterName, IEnumerable<string> added) =>
        new([.. OwnDomains(clusterName), .. added], PrivateNetworks);

    /// <summary>Returns the domains and host names that the operator added.</summary>
    public IEnumerable<string> AddedIn(string clusterName) =>
        _domains.Except(OwnDomains(clusterName), StringComparer.Ordinal);

    /// <summary>Returns the cluster's own domain. Every member has a name in it.</summary>
    public static string DomainOf(string clusterName) => clusterName + ".rookery";

    /// <summary>Reads the constraints in an authority's certificate.</summary>
    /// <exception cref="IdentityException">The certificate has no constraints, so Rookery did not make it.</exception>
    public static NameConstraints ReadFrom(X509Certificate2 authority)
    {
        var extension =
            authority.Extensions[ObjectId]
            ?? throw new IdentityException(
                $"The certificate {authority.Subject} is not of a cluster's authority: it may sign any name."
            );
        List<string> domains = [];
        List<IPNetwork> networks = [];
        var subtrees = new AsnReader(extension.RawData, AsnEncodingRules.DER).ReadSequence().ReadSequence(Permitted);
        while (subtrees.HasData)
        {
            var subtree = subtrees.ReadSequence();
            if (subtree.PeekTag().HasSameClassAndValue(DnsName))
            {
                domains.Add(subtree.ReadCharacterString(UniversalTagNumber.IA5String, DnsName));
            }
            else
            {
                networks.Add(NetworkOf(subtree.ReadOctetString(IpAddress)));
            }
        }

        return new NameConstraints(domains, networks);
    }

    /// <summary>Whether the authority may sign a DNS name.</summary>
    public bool Permits(string name) =>
        Array.Exists(
            _domains,
            domain =>
                name.Equals(domain, StringComparison.OrdinalIgnoreCase)
                || name.EndsWith("." + domain, StringComparison.OrdinalIgnoreCase)
        );

    /// <summary>Whether the authority may sign an address.</summary>
    public bool Permits(IPAddress address) =>
        Array.Exists(
            _networks,
            network => network.BaseAddress.AddressFamily == address.AddressFamily && network.Contains(address)
        );

    /// <summary>Returns the critical extension with these constraints.</summary>
    public X509Extension ToExtension()
    {
        var writer = new AsnWriter(AsnEncodingRules.DER);
        using (writer.PushSequence())
        using (writer.PushSequence(Permitted))
        {
            foreach (string domain in _domains)
            {
                using (writer.PushSequence())
                {
                    writer.WriteCharacterString(UniversalTagNumber.IA5String, domain, DnsName);
                }
            }

            foreach (var network in _networks)
            {
                using (writer.PushSequence())
                {
                    writer.WriteOctetString([.. network.BaseAddress.GetAddressBytes(), .. MaskOf(network)], IpAddress);
                }
            }
        }

        return new X509Extension(ObjectId, writer.Encode(), critical: true);
    }

    private static string[] OwnDomains(string clusterName) =>
        ["local", "localhost", "home.arpa", "internal", DomainOf(clusterName)];

    private static byte[] MaskOf(IPNetwork network)
    {
        byte[] mask = new byte[network.BaseAddress.AddressFamily == AddressFamily.InterNetwork ? 4 : 16];
        for (int bit = 0; bit < network.PrefixLength; bit++)
        {
            mask[bit / 8] |= (byte)(0x80 >> (bit % 8));
        }

        return mask;
    }

    private static IPNetwork NetworkOf(byte[] addressAndMask)
    {
        var address = new IPAddress(addressAndMask.AsSpan(0, addressAndMask.Length / 2));
        int prefixLength = addressAndMask.AsSpan(addressAndMask.Length / 2).ToArray().Sum(part => int.PopCount(part));
        return new IPNetwork(address, prefixLength);
    }
}
