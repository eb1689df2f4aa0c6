using Rookery.Board.Doctor;

namespace Rookery.Board.Tests.Doctor;

/// <summary>The facts of a healthy machine, which tests change.</summary>
internal static class HealthyMachine
{
    public const long Mebibyte = 1 << 20;

    /// <summary>A Raspberry Pi of a cluster of three, without any trouble.</summary>
    public static readonly DoctorFacts Well = new()
    {
        Now = new DateTimeOffset(2026, 11, 22, 12, 0, 0, TimeSpan.Zero),
        Model = "Raspberry Pi 4 Model B Rev 1.4",
        Reading = new BoardReading { TemperatureCelsius = 52, KnownFlags = Throttling.All },
        Storage = [CardOf(new SdClasses(Speed: 10, Uhs: 1, Video: 10, Application: 1))],
        Space = [new SpaceFacts("/var/lib/rookery/data", 20_000 * Mebibyte, 1_000 * Mebibyte)],
        Probe = new DiskProbe(
            "/var/lib/rookery/data",
            BytesPerSecond: 20e6,
            MedianSyncMilliseconds: 5,
            SlowSyncMilliseconds: 30
        ),
        IsClockSynchronised = true,
        ClockAheadSeconds = 0.2,
        Node = new NodeFacts(
            "https://127.0.0.1",
            NoAnswerReason: null,
            Reason: null,
            ClusterTrouble: null,
            ClockDoubt: null
        ),
        CertificateEnds = new DateTimeOffset(2027, 9, 1, 0, 0, 0, TimeSpan.Zero),
        Ports = [],
        OpenPorts =
        [
            new OpenPortFacts(Port: 443, "clients", IsForMembers: false, IsOnlyLocal: false, Callers: 0),
            new OpenPortFacts(Port: 9443, "members", IsForMembers: true, IsOnlyLocal: false, Callers: 2),
        ],
        Mdns = new MdnsFacts(Trouble: null, IsMissing: false, Nodes: 3, Others: 2, IsOwnAnnounced: true),
        Network = new NetworkFacts("192.168.1.1", GatewayAnswers: true, Peers: 2, PeersReached: 2)
        {
            MembersServing = 2,
        },
    };

    /// <summary>The same machine, whose node waits for two others and found none.</summary>
    public static DoctorFacts WithoutOtherNodes(bool gatewayAnswers) =>
        Well with
        {
            Node = Well.Node! with { Forming = "It waits for two." },
            Mdns = Well.Mdns! with { Nodes = 1, Others = 0 },
            Network = new NetworkFacts("192.168.1.1", gatewayAnswers, Peers: 0, PeersReached: 0),
        };

    public static StorageReading CardOf(SdClasses? classes) =>
        new("mmcblk0") { Card = new CardRegisters("SD", "SC32G", "0x000003", "0x5344", "04/2023", classes) };

    public static StorageReading EmmcOf(double? life, int spare) =>
        new("mmcblk0")
        {
            Card = new CardRegisters("MMC", "BJTD4R", ManufacturerId: null, OemId: null, Date: null, Classes: null),
            LifeUsedA = life,
            SpareBlocksUsed = spare,
        };
}
