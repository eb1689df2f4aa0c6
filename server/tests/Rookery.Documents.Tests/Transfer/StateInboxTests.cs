using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Transfer;

/// <summary>The files of a state that a member fetches, before they are installed.</summary>
public sealed class StateInboxTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_restart_resumes_the_same_offer_and_another_offer_starts_again()
    {
        var offer = Transferred.Offer(_disk, out var sender);
        using (sender)
        {
            using (var receiver = SteppedNode.Open(_disk, Transferred.Receiver))
            {
                Transferred.Copy(sender.Core.Offers, offer, receiver.Core.Inbox);
            }

            using var again = SteppedNode.Open(_disk, Transferred.Receiver);
            again.Core.Inbox.Begin(offer);
            Assert.All(offer.Files, file => Assert.Equal(file.Bytes, again.Core.Inbox.ResumeAt(file)));
            again.Core.Inbox.Check(offer);
            again.Core.Inbox.Begin(offer with { Id = "another" });
            Assert.All(offer.Files, file => Assert.Equal(0, again.Core.Inbox.ResumeAt(file)));
        }
    }

    [Fact]
    public void A_damaged_file_is_deleted_and_fetched_again()
    {
        var offer = Transferred.Offer(_disk, out var sender);
        using (sender)
        using (var receiver = SteppedNode.Open(_disk, Transferred.Receiver))
        {
            Transferred.Copy(sender.Core.Offers, offer, receiver.Core.Inbox);
            _disk.Rot($"{Transferred.Receiver}/storage/incoming/{offer.Files[0].Name}", offset: 100, mask: 3);
            Assert.Contains(
                "is damaged",
                Assert.Throws<StateTransferException>(() => receiver.Core.Inbox.Check(offer)).Message,
                StringComparison.Ordinal
            );
            long before = receiver.Core.Transfers.ReceivedBytes;
            Transferred.Copy(sender.Core.Offers, offer, receiver.Core.Inbox);
            Assert.Equal(offer.Files[0].Bytes, receiver.Core.Transfers.ReceivedBytes - before);
            receiver.Core.Inbox.Check(offer);
        }
    }

    [Fact]
    public void A_snapshot_is_refused_without_enough_free_space()
    {
        var receiverDisk = new SimulatedDisk("/data");
        var offer = Transferred.Offer(_disk, out var sender);
        using (sender)
        using (var receiver = SteppedNode.Open(receiverDisk, Transferred.Receiver))
        {
            receiverDisk.CapacityBytes = receiverDisk.UsedBytes + offer.Bytes - 1;
            Assert.Contains(
                "Free some space on this node, or give it a larger disk.",
                Assert.Throws<StateTransferException>(() => receiver.Core.Inbox.Begin(offer)).Message,
                StringComparison.Ordinal
            );
        }
    }
}
