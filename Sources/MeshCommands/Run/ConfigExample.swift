/// A valid configuration that shows every setting.
enum ConfigExample {
    static let text = """
        # What `meshledger run` does. `meshledger config check FILE` finds mistakes. After a change, `systemctl reload meshledger` or SIGHUP
        # applies it: unchanged sources stay connected.

        # The ledger's folder, created if it does not exist. --ledger on the command line takes precedence over it; without both, $MESHLEDGER says where it is.
        ledger: /var/lib/meshledger/mesh.ledger

        log:
          # How messages are written to standard error: text, or json for programs, one object a line.
          format: text

        # Where packets come from: any number of sources of any kind, each with its own connection. All are stored in the one ledger.
        sources:
          # A radio on the network. Its port, if it is not 4403, follows the host after a colon.
          - tcp: 192.168.1.20
            # Share it: apps and programs connect to this port of this computer as if it were the radio, many at once. 0.0.0.0:4403 offers it to
            # the network.
            share: 4403
            # Networks from which clients may connect. The default is only this computer.
            share-allow: [127.0.0.0/8, 192.168.1.0/24]
            # Networks from which clients may change the radio's settings. The default is none.
            share-admin: [127.0.0.1]

          # A radio on USB or another serial port, preferably by its stable name.
          - serial: /dev/serial/by-id/usb-RAKwireless_WisCore-if00
            # Raise the DTR line, as most boards expect; some reset when it is raised.
            dtr: true

          # A broker: mqtt:// or mqtts://, the user if there is one, host, port, and a topic root.
          - mqtt: mqtts://user@broker.example:8883/msh/EU_868/#
            # A file whose first line is the password.
            password-file: /etc/meshledger/broker.password
            # 0, or 1 for messages that the broker keeps until they are stored.
            qos: 1
            # The client id at the broker; needed to keep a session.
            client-id: meshledger-roof
            # The broker keeps messages while this client is away (needs client-id and qos 1).
            keep-session: true
            # Seconds between keep-alive messages.
            keep-alive: 60
            # PEM files: of the certificates that sign trusted brokers, of this client's certificate, and of its key.
            ca-file: /etc/meshledger/ca.pem
            cert-file: /etc/meshledger/client.pem
            key-file: /etc/meshledger/client.key

          # Radios that send to the local network: the multicast groups to listen to, or all for those that radios use. Nothing else is stored.
          - udp: all
            # The default is all interfaces that support multicast, including those that appear later.
            interfaces: [eth0]
            port: 4403

          # A file that grows and is rotated.
          - file: /var/log/mesh.jsonl
            # By default it is detected; `meshledger help import` lists the formats.
            format: jsonl

          # Recordings of other ledgers (`meshledger export --format ledger FILE`): a file, or a folder of them. One that is rewritten is imported
          # again, which adds only new events.
          - recording: /srv/recordings

        # Events that are dropped: half a minute after the start or a change, then each hour. Without this section the ledger's policy is
        # unchanged; by default everything is kept.
        retention:
          # Those that arrived longer ago: 90d, 12h, 1y.
          older-than: 5y
          # The oldest of a log that takes more: 10GB, 500MB.
          larger-than: 100GB

        # Old events are compressed in place; every answer stays the same. Applied at the next start.
        sealing:
          # false leaves it to `meshledger storage seal`.
          automatic: true
          # This many of the newest events stay uncompressed, for the fastest reads.
          newest: 65536

        # A backup that is kept up to date. Applied at the next start.
        backup:
          to: /srv/backup/mesh
          # How often; the first one is made at the start.
          every: 1d

        """
}
